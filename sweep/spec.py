"""The table of a model, under the name that packages with models import."""

from sweep.model.table import *  # noqa: F403

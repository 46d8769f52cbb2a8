"""Models of installed packages, which the entry point group `tribosweep.models` names.

    [project.entry-points."tribosweep.models"]
    NAME = "package.module"

The module has `MODEL`, the table of the model NAME. In the package that the module is in (or is)
there is `kernels/NAME.h`, its header. A store or a worker is given the name alone, so a header is
only ever compiled from an installed package.
"""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from sweep.errors import SweepError
from sweep.model.shipped import shipped_models
from sweep.model.table import Model
from sweep.model.tables import models

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from importlib.resources.abc import Traversable

GROUP = "tribosweep.models"


@dataclass(frozen=True)
class Offer:
    """What an installed package offers: a model, or a problem because of which it is left out."""

    name: str
    package: str  # name and version
    model: Model | None
    problem: str = ""


def installed_model(name: str) -> Model | None:
    """The model of that name in an installed package; SweepError if those that are are left out."""
    candidates = offers(name)
    left_out = [f"{each.package}: {each.problem}" for each in candidates if not each.model]
    if left_out:
        raise SweepError(f"model {name!r} is left out; {'; '.join(left_out)}")
    return candidates[0].model if candidates else None


@cache
def offers(name: str | None = None) -> tuple[Offer, ...]:
    """Everything that installed packages offer, or only models of that name; sorted.

    Only the modules of these models are imported. No fault of a package is raised.
    """
    from importlib.metadata import entry_points

    points = entry_points(group=GROUP) if name is None else entry_points(group=GROUP, name=name)
    counts = Counter(point.name for point in points)
    unsorted = [_offer(point, alone=counts[point.name] == 1) for point in points]
    return tuple(sorted(unsorted, key=lambda each: (each.name, each.package)))


def header_folder(package: str) -> Traversable:
    """The folder of headers in an importable package; SweepError if it is not installed here."""
    from importlib.resources import files

    try:
        return files(package) / "kernels"
    except ImportError as error:
        raise SweepError(f"package {package} cannot be imported here: {error}") from error


def _offer(point: EntryPoint, *, alone: bool) -> Offer:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unnamed package"
    try:
        return Offer(point.name, package, _model(point, alone=alone))
    except SweepError as error:
        return Offer(point.name, package, None, str(error))


def _model(point: EntryPoint, *, alone: bool) -> Model:
    """The model of an entry point, with the package of its header; SweepError if it has a fault."""
    name = point.name
    if not (name.isidentifier() and name.isascii()):
        raise SweepError(
            f"the entry point {name!r} cannot be the name of a C++ namespace; rename it"
        )
    if name in models() or name in shipped_models():
        raise SweepError(f"{name!r} is the name of a shipped model; rename it")
    if not alone:
        raise SweepError(f"several packages offer {name!r}; uninstall all but one")
    try:
        module = importlib.import_module(point.module)
    except (Exception, SystemExit) as error:  # whatever the code of a stranger raises
        reason = f"{type(error).__name__}: {error}"
        raise SweepError(f"{point.module} cannot be imported ({reason})") from error
    model, package = getattr(module, "MODEL", None), module.__spec__ and module.__spec__.parent
    if not isinstance(model, Model) or model.name != name:
        raise SweepError(f"{point.module} has no `MODEL`, a sweep.spec.Model with the name {name}")
    if not package or not header_folder(package).joinpath(f"{name}.h").is_file():
        raise SweepError(f"kernels/{name}.h is missing in the package of {point.module}")
    return replace(model, package=package)

"""The columns of a sample from the recipe of its axis; many points are drawn when they are read.

Parameters take the dimensions of the sequence in the order of their names, so that their order in a
file has no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from sweep.request import FOR_INDICES, STRETCH, LongValues
from sweep.sampling.distributions import DISTRIBUTIONS, Margin
from sweep.sampling.sequences import saltelli, sequence
from sweep.sampling.stretches import Drawn, SampleColumns


def columns_of(
    recipe: Mapping[str, object], whole: Collection[str] = ()
) -> Mapping[str, LongValues]:
    """The columns of a sample that is drawn, by parameter; `whole` names those of whole numbers.

    The recipe has `method`, `points`, perhaps `seed`, `scramblings` and `sobol_indices`, and the
    distribution of each parameter: {"friction": {"uniform": [0.1, 0.2]}}.
    """
    entries = cast("Mapping[str, Any]", recipe)
    margins = {
        name: _margin(entries[name], is_whole=name in whole)
        for name in sorted(entries)
        if isinstance(entries[name], Mapping)
    }
    method, n_base, k = str(entries["method"]), int(entries["points"]), max(len(margins), 1)
    seed = int(entries["seed"]) if "seed" in entries else None
    for_indices = FOR_INDICES in entries
    n_points = n_base * (k + 2) if for_indices else n_base
    n_dimensions = 2 * k if for_indices else k
    unit = sequence(method, n_base, n_dimensions, seed, int(entries.get("scramblings", 1)))
    sample = SampleColumns(saltelli(unit, k) if for_indices else unit, margins)
    columns = {name: Drawn(sample, name, n_points) for name in margins}
    if n_points <= STRETCH or method == "latin_hypercube":
        return {name: column[:] for name, column in columns.items()}
    return columns


def _margin(entry: Mapping[str, Any], *, is_whole: bool) -> Margin:
    (form,) = (name for name in entry if name in DISTRIBUTIONS)
    return Margin(form, tuple(map(float, entry[form])), is_whole)

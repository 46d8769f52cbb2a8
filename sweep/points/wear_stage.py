"""Wear of every point: volume, depth and time to a limit as outputs of a sweep.

What a law and a scar depend on are parameters of the sweep, constant, along axes or drawn like any.
Their names are the keys of [wear], after `wear_` where the model has such a parameter or quantity.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.model.table import (
    MISSING_FLAG,
    Labels,
    Model,
    Output,
    Parameter,
    Status,
    every_parameter,
)
from sweep.request.chunk import Values
from sweep.theory.wear import LAWS, YEAR, Geometry, Law, geometry_of, law_of

REVISION = 1  # increased when the bits of volumes, depths or times change
STATES = ("within_law", "below_law", "worn_through")
WORN_THROUGH = STATES.index("worn_through")
UNITS = {"years": "W", "cycles": "J"}  # of the output that wears
CYCLIC = "archard"  # the law that also holds for energies and cycles
COEFFICIENTS = tuple(dict.fromkeys(name for law in LAWS.values() for name in law.coefficients))
POWER = "power"  # the dimension of several outputs that wear
WEAR_OUTPUTS = ("wear_volume", "wear_state", "wear_depth", "time_to_limit", "cycles_to_limit")
SIZES = {
    "limit": Parameter(
        name="limit", symbol="h", unit="m", minimum=0, open_minimum=True,
        meaning="depth of the scar that is the limit",
    ),
    "wall": Parameter(
        name="wall", symbol="t", unit="m", minimum=0, open_minimum=True,
        meaning="thickness of the wall, which is worn through at that depth",
    ),
}  # fmt: skip
DURATIONS = {
    "years": Parameter(
        name="years", symbol="T", unit="1", minimum=0, open_minimum=True,
        meaning="time in service, in years of 365 days",
    ),
    "cycles": Parameter(
        name="cycles", symbol="n", unit="1", minimum=0, open_minimum=True,
        meaning="number of cycles in service",
    ),
}  # fmt: skip
TIMES = {
    "years": ("time", YEAR, "s", "time in service"),
    "cycles": ("cycles", 1.0, "1", "number of cycles in service"),
}  # the dimension, how many of its unit, the unit, the meaning


@dataclass(frozen=True, kw_only=True)
class WearStage:
    """Wear by outputs of a model, which have the same indices: a power in W, or an energy in J."""

    law: str
    powers: tuple[Output, ...]
    duration: str = "years"  # or "cycles"
    times: tuple[float, ...] | None = None  # ascending; None: the duration is a parameter
    geometry: str | None = None  # None: no depths
    small: bool = False
    sizes: tuple[str, ...] = ()  # those of SIZES that are parameters
    taken: frozenset[str] = frozenset()  # keys that the model has as names

    @property
    def recipe(self) -> dict[str, object]:
        return {
            "revision": REVISION,
            "law": self.law,
            "power": [output.name for output in self.powers],
            "duration": self.duration,
            "times": self.times,
            "geometry": self.geometry,
            "small": self.small,
            "sizes": list(self.sizes),
            "taken": [key for key in self.by_key if key in self.taken],
        }

    def table(self, constants: Mapping[str, float]) -> dict[str, object]:
        """[wear] of a sweep file, with these constants of the sweep."""
        how: dict[str, object] = {
            "law": self.law,
            "power": [output.name for output in self.powers],
            self.duration: None if self.times is None else list(self.times),
            "geometry": self.geometry,
            "small": self.small or None,
        }
        values = {key: constants.get(each.name) for key, each in self.by_key.items()}
        return {key: value for key, value in {**how, **values}.items() if value is not None}

    @property
    def needs(self) -> tuple[Output, ...]:
        return self.powers

    @cached_property
    def by_key(self) -> dict[str, Parameter]:
        """The parameters by their keys of [wear]."""
        table = {**self._law.coefficients, **(self._scar.dimensions if self._scar else {})}
        table |= {key: SIZES[key] for key in self.sizes}
        if self.times is None:
            table[self.duration] = DURATIONS[self.duration]
        return {key: replace(p, name=self.name_of(key)) for key, p in table.items()}

    def name_of(self, key: str) -> str:
        """The name of the parameter with this key of [wear]."""
        return f"wear_{key}" if key in self.taken else key

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(self.by_key.values())

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        if not self.powers:
            return ()
        first = self.powers[0]
        names = tuple(output.name for output in self.powers)
        over = (Labels(POWER, names, "output that wears"),) if len(names) > 1 else ()
        over = (*over, *first.over)
        dimension, scale, unit, meaning = TIMES[self.duration]
        moments = tuple(each * scale for each in self.times or ())
        own = None
        if self.duration != dimension:
            own = Labels(self.duration, self.times or (), DURATIONS[self.duration].meaning)
        over_time = (*over, Labels(dimension, moments, meaning, unit, own)) if moments else over
        optional = any(output.optional for output in self.powers)
        common = replace(first, unit="1", optional=optional, over=over_time)
        law = "whether the law holds, the power is too low for it, or nothing is left to wear"
        outputs = [
            replace(common, name="wear_volume", unit="m^3", long_name="worn volume"),
            replace(common, name="wear_state", long_name=law, kind="flag", flags=STATES),
        ]
        if self.geometry:
            depth = "depth of the scar; inf where nothing of the tube is left"
            outputs.append(replace(common, name="wear_depth", unit="m", long_name=depth))
        if "limit" in self.sizes:
            until = f"{dimension} until the depth is the limit; inf where it never is"
            outputs.append(
                replace(common, name=f"{dimension}_to_limit", unit=unit, long_name=until, over=over)
            )
        return tuple(outputs)

    @cached_property
    def _law(self) -> Law:
        return law_of(self.law)

    @cached_property
    def _scar(self) -> Geometry | None:
        return geometry_of(self.geometry, small=self.small) if self.geometry else None

    def computed(
        self,
        arrays: Mapping[str, NDArray[Any]],
        values: Mapping[str, Values],
        names: Collection[str],
    ) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """As `Stage.computed`; outside: a power is negative, or sizes contradict each other."""
        known = {key: values[parameter.name] for key, parameter in self.by_key.items()}
        coefficients = {key: known[key] for key in self._law.coefficients}
        planes = [name for output in self.powers for name in output.planes]
        power = np.stack([arrays[name] for name in planes])[:, None, :]  # (powers, 1, points)
        scale = TIMES[self.duration][1]
        moments = np.array(self.times)[:, None] if self.times else known[self.duration]
        volume = self._law.volume(power, moments * scale, coefficients)  # (powers, times, points)
        within = np.broadcast_to(self._law.within(power, coefficients), volume.shape)
        outside = np.any(power < 0, axis=(0, 1))
        state = np.where(np.isnan(within), MISSING_FLAG, within == 0).astype(np.uint8)
        made: dict[str, NDArray[Any]] = {"wear_volume": volume}
        if self._scar:
            size = {key: known[key] for key in self._scar.dimensions}
            most = self._scar.volume(2 * size["radius"], size)
            depth = np.where(volume > most, math.inf, self._scar.depth(volume, size))
            outside |= np.any(np.isnan(depth) & ~np.isnan(volume), axis=(0, 1))
            wall = known.get("wall", np.array(math.inf))
            state = np.where(depth >= wall, np.uint8(WORN_THROUGH), state)
            made["wear_depth"] = depth
            if "limit" in known and (name := self.outputs[-1].name) in names:
                made[name] = self._to_limit(power, known["limit"], size, coefficients)
        made["wear_state"] = state
        return {
            plane: np.ascontiguousarray(row)
            for output in self.outputs
            if output.name in names
            for plane, row in zip(
                output.planes, made[output.name].reshape(-1, power.shape[-1]), strict=True
            )
        }, outside

    def _to_limit(
        self,
        power: Values,
        limit: Values,
        size: Mapping[str, Values],
        coefficients: Mapping[str, Values],
    ) -> Values:
        """The time until the depth is the limit [s or cycles]; inf where it never is."""
        assert self._scar is not None
        beyond = limit > 2 * size["radius"]
        volume = self._scar.volume(np.where(beyond, 0.0, limit), size)
        seconds = self._law.seconds(power, volume, coefficients)
        return np.where(beyond & ~np.isnan(seconds), math.inf, seconds)


def worn(model: Model, recipe: Mapping[str, Any]) -> Model:
    """The model with the outputs of its wear, from what `WearStage.recipe` has, as floats.

    SweepError if this version computes it with other bits.
    """
    if recipe["revision"] != REVISION:
        raise SweepError(
            f"the recipe has revision {recipe['revision']:g} of wear, this version has revision "
            f"{REVISION}; use the version that wrote it"
        )
    outputs = {output.name: output for output in model.outputs}
    return with_stage(
        model,
        WearStage(
            law=recipe["law"],
            powers=tuple(outputs[name] for name in recipe["power"]),
            duration=recipe["duration"],
            times=None if recipe["times"] is None else tuple(recipe["times"]),
            geometry=recipe["geometry"],
            small=recipe["small"],
            sizes=tuple(recipe["sizes"]),
            taken=frozenset(recipe["taken"]),
        ),
    )


def taken_by(model: Model) -> frozenset[str]:
    """The names of the model's parameters, in any set and method, and of what its traces show."""
    names = [each.name for each in (*every_parameter(model), *model.observables)]
    return frozenset(name.partition("[")[0] for name in names)


def with_stage(model: Model, stage: WearStage) -> Model:
    """The model with the outputs of a stage."""
    sentence = model.sentences[Status.outside_validity]
    of_wear = "of wear: a power is negative, or the hole is smaller than the tube"
    sentences = {**model.sentences, Status.outside_validity: f"{sentence}; {of_wear}"}
    return replace(
        model, outputs=(*model.outputs, *stage.outputs), stage=stage, sentences=sentences
    )

"""Worn volume and depth over years, from the wear powers of a sweep.

Volume and depth never decrease with the power, so they carry quantiles, minima and maxima of the
powers, and shares above or below a limit. They do not carry means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sweep.errors import SweepError
from sweep.file import load_wear
from sweep.file.wear_table import CARRIED, SHARES, power_fault
from sweep.model.table import MISSING_FLAG, Status
from sweep.points.wear_stage import POWER, STATES, TIMES, UNITS, WORN_THROUGH
from sweep.request.chunk import Values
from sweep.request.sweeps import Wear
from sweep.results.summary import coded, refuse_no_results
from sweep.store import open_results
from sweep.text.keywords import spelled_out
from sweep.text.wording import listed
from sweep.theory.wear import YEAR, geometry_of, law_of, time_to_depth

PART = 2**18  # values computed at once: their intermediate arrays take some 50 MB
LOST = ("mean", "standard_deviation", "histogram", "first_order", "total_order")
NEGATIVE = "the wear power is negative, so that no law of wear applies; check that output"
INCOMPLETE = (
    "not computed when the wear was; run the sweep again to complete it, then compute wear again"
)
STATE = {
    "long_name": "whether the law holds, the power is too low for it, or the tube has less than "
    "that volume",
    "flag_values": list(range(len(STATES))),
    "flag_meanings": " ".join(STATES),
}


Quantity: TypeAlias = float | str  # in SI units, or text with a unit


class WearKeywords(TypedDict, total=False):
    """The keys of [wear]; None is the same as not given."""

    law: str | None
    coefficient: Quantity | Mapping[str, Sequence[float]] | None
    exponent: float | None
    decay: Quantity | None
    slope: Quantity | None
    years: float | str | Sequence[float] | None
    cycles: float | str | Sequence[float] | None
    power: str | Sequence[str] | None
    quantiles: float | str | Sequence[float] | None
    geometry: str | None
    radius: Quantity | None
    length: Quantity | None
    angle: Quantity | None
    hole_radius: Quantity | None
    small: bool | None
    limit: Quantity | None
    wall: Quantity | None


@spelled_out(WearKeywords)
def wear(results: xr.Dataset | str | Path, **table: Unpack[WearKeywords]) -> xr.Dataset:
    """Worn volume and depth over years, from the wear powers of a sweep.

    `results` is a Dataset or the path of a store. The other arguments are the keys of [wear] in a
    sweep file: law ("archard", "edf_mz") and its coefficients, years or cycles, and for depths
    geometry ("tube_flat", "tube_flat_inclined", "tube_hole"), radius, length, angle, hole_radius,
    small, limit and wall; in SI units, or text with a unit. An uncertain coefficient is written as
    in [sample]: coefficient={"lognormal": [1.2e-13, 0.5]}; its wear is given at `quantiles`.
    `power` is the output in W, or of cycles in J, or a list of them, by default "wear_power". The
    Dataset is described at `wear_over_time`. Raises ConfigError with every fault.
    """
    settings = load_wear({key: v for key, v in table.items() if v is not None}, "wear")
    dataset = results if isinstance(results, xr.Dataset) else open_results(results)
    return wear_over_time(dataset, settings)


def wear_over_time(dataset: xr.Dataset, wear: Wear) -> xr.Dataset:
    """The wear of every point over the years, with the dimension `time` [s] and its `years`.

    Variables: `wear_volume` [m³], `wear_state` (whether the law holds), with a geometry
    `wear_depth` [m], with a limit `time_to_limit` [s], and `status`. Of an uncertain coefficient
    and of reduced results there are `wear_volume_quantile` and so on in their place, and
    `time_to_limit_of_quantile`: when that quantile of the depth reaches the limit. A share of
    points beyond a power is also that beyond the volume and the depth at that power, which
    `wear_volume_threshold` and `wear_depth_threshold` give over time. As lazy as `dataset`. Over
    cycles, the dimension is `cycles`. Several powers are along the dimension `power`.

    SweepError if there is no power in W, or none of its statistics can be carried.
    """
    refuse_no_results(dataset)
    if len(wear.powers) > 1:
        return _of_several(dataset, wear)
    dataset = coded(dataset)
    units = {str(n): str(v.attrs.get("units")) for n, v in dataset.data_vars.items()}
    is_uncertain = wear.coefficient_at is not None
    if found := power_fault(wear.power, units, wear.duration, is_uncertain=is_uncertain):
        raise SweepError(f"these results have no {wear.power!r} for wear: {found[1]}")
    powers = _powers(dataset, wear)
    shares = _statistics(dataset, wear.power, SHARES)
    for name, power in powers.items():
        if (unit := power.attrs.get("units")) != UNITS[wear.duration]:
            raise SweepError(
                f"{wear.power}{name} is in {unit}, and a wear power has to be in "
                f"{UNITS[wear.duration]}: name another output (power)"
            )
    variables: dict[str, xr.DataArray] = {}
    coordinates = _times(wear)
    status = _status(dataset, powers)
    for suffix, power in powers.items():
        variables |= _worn(power.where(status == Status.ok), suffix, wear)
    for name, share in shares.items():
        for kind in ("volume", "depth") if wear.geometry else ("volume",):
            meaning = f"share of points with a {kind} {name[6:]} wear_{kind}_threshold"
            variables[f"wear_{kind}_{name}"] = share.assign_attrs(long_name=meaning)
        coordinates |= _thresholds(dataset[f"{wear.power}_threshold"], wear)
    variables["status"] = status
    if wear.coefficient_at is not None:
        described = {"long_name": "share of the coefficients that are at most as large"}
        levels = list(wear.coefficient_at)
        coordinates["quantile"] = xr.Variable("quantile", levels, {**described, "units": "1"})
    return xr.Dataset(variables, attrs=_attributes(dataset, wear)).assign_coords(coordinates)


def _of_several(dataset: xr.Dataset, wear: Wear) -> xr.Dataset:
    """The wear of several powers, along a dimension of its own."""
    if shares := [each for each in wear.powers if _statistics(dataset, each, SHARES)]:
        raise SweepError(
            f"shares of {listed(shares)} are beyond limits of their own: compute the wear of one "
            "power at a time"
        )
    parts = [wear_over_time(dataset, replace(wear, powers=(each,))) for each in wear.powers]
    status = parts[0]["status"]
    for part in parts[1:]:
        outside = part["status"].where(status == Status.ok, status)
        status = outside.astype(np.uint8).assign_attrs(status.attrs)
    described = {"long_name": "output that wears"}
    along = xr.Variable(POWER, np.array(wear.powers, np.dtypes.StringDType()), described)
    ok = status == Status.ok
    outputs = [part.drop_vars("status").map(_where, ok=ok) for part in parts]
    whole = xr.concat(outputs, along, data_vars="all", coords="minimal", compat="override")
    order = [each for each in whole.dims if each != POWER]
    whole = whole.transpose(*order[: len(status.dims)], POWER, ...).assign(status=status)
    return whole.assign_attrs(_attributes(dataset, wear))


def _where(values: xr.DataArray, *, ok: xr.DataArray) -> xr.DataArray:
    """The values of points that are ok; others are missing."""
    missing = values.dtype.type(MISSING_FLAG) if values.dtype == np.uint8 else np.nan
    return values.where(ok, missing)


def _attributes(dataset: xr.Dataset, wear: Wear) -> dict[Any, Any]:
    return {**dataset.attrs, "derived_by": json.dumps({"wear": asdict(wear)}, sort_keys=True)}


def left_out(dataset: xr.Dataset, wear: Wear) -> list[str]:
    """The statistics of the power that the results have and wear does not carry."""
    return [f"{each}_{kind}" for each in wear.powers for kind in _statistics(dataset, each, LOST)]


def _powers(dataset: xr.Dataset, wear: Wear) -> dict[str, xr.DataArray]:
    """The powers, by what is appended to names of their wear: "", "_quantile" ..."""
    if wear.power in dataset:
        return {"" if wear.coefficient_at is None else "_quantile": dataset[wear.power]}
    return {
        f"_{each}": values for each, values in _statistics(dataset, wear.power, CARRIED).items()
    }


def _statistics(dataset: xr.Dataset, power: str, kinds: Sequence[str]) -> dict[str, xr.DataArray]:
    """The statistics of the power that there are of these kinds."""
    names = {kind: f"{power}_{kind}" for kind in kinds}
    return {kind: dataset[name] for kind, name in names.items() if name in dataset}


def _times(wear: Wear) -> dict[str, xr.Variable]:
    name, _, unit, meaning = TIMES[wear.duration]
    moments = np.array(wear.times)
    times = xr.Variable(name, moments, {"long_name": meaning, "units": unit})
    if wear.duration != "years":
        return {name: times}
    years = {"long_name": "time in service, in years of 365 days", "units": "year"}
    return {name: times, "years": xr.Variable(name, moments / YEAR, years)}


def _status(dataset: xr.Dataset, powers: Mapping[str, xr.DataArray]) -> xr.DataArray:
    """The status of the points, outside_validity where a power is negative."""
    status = dataset["status"]
    negative = xr.zeros_like(status, dtype=bool)
    for power in powers.values():
        below = power < 0
        negative = negative | below.any([name for name in power.dims if name not in status.dims])
    wear_status = status.where(
        ~(negative & (status == Status.ok)), np.uint8(Status.outside_validity)
    )
    comment = f"of wear also outside_validity: {NEGATIVE}"
    return wear_status.astype(np.uint8).assign_attrs({**status.attrs, "comment": comment})


def _worn(power: xr.DataArray, suffix: str, wear: Wear) -> dict[str, xr.DataArray]:
    """Volume, state, depth and time to the limit of powers, with that appended to their names."""
    sizes = {} if wear.coefficient_at is None else {"quantile": len(wear.coefficient_at)}
    prefix = f"{suffix[1:]} of the " if suffix else ""
    over, _, unit, _ = TIMES[wear.duration]
    described: dict[str, dict[str, Any]] = {
        "volume": {"long_name": f"{prefix}worn volume", "units": "m^3"},
        "state": STATE,
    }
    if wear.geometry is not None:
        described["depth"] = {"long_name": f"{prefix}depth of the scar", "units": "m"}
    dtypes = [np.uint8 if name == "state" else np.float64 for name in described]
    arrays = _applied(_over_time, power, wear, {**sizes, over: len(wear.times)}, dtypes)
    variables = {
        f"wear_{name}{suffix}": values.drop_attrs(deep=False).assign_attrs(described[name])
        for name, values in zip(described, arrays, strict=True)
    }
    if wear.limit is not None:
        seconds = _applied(_to_limit, power, wear, sizes, [np.float64]).drop_attrs(deep=False)
        meaning = f"{over} until the {prefix}depth is {wear.limit:g} m; inf where it never is"
        name = f"{over}_to_limit{'_of' if suffix else ''}{suffix}"
        variables[name] = seconds.assign_attrs(long_name=meaning, units=unit)
    return variables


def _applied(
    compute: Callable[[Values, Wear], tuple[NDArray[Any], ...]],
    power: xr.DataArray,
    wear: Wear,
    sizes: Mapping[str, int],
    dtypes: list[type],
) -> Any:
    """The arrays that a function makes of powers, as lazy as these; `sizes` of new dimensions."""
    return xr.apply_ufunc(  # pyright: ignore[reportUnknownMemberType]
        _in_parts, power,
        kwargs={"wear": wear, "compute": compute},
        output_core_dims=[list(sizes)] * len(dtypes),
        dask="parallelized",
        output_dtypes=dtypes,
        dask_gufunc_kwargs={"output_sizes": dict(sizes)},
    )  # fmt: skip


def _in_parts(
    power: Values, *, compute: Callable[[Values, Wear], tuple[NDArray[Any], ...]], wear: Wear
) -> Any:
    """The array or arrays for all powers, computed a part at a time, which bounds the memory."""
    flat = np.asarray(power, np.float64).ravel()
    size = max(PART // (len(wear.times) * len(wear.coefficient_at or (1,))), 1)
    parts = [compute(flat[i : i + size], wear) for i in range(0, max(flat.size, 1), size)]
    joined = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    reshaped = [each.reshape(*power.shape, *each.shape[1:]) for each in joined]
    return tuple(reshaped) if len(reshaped) > 1 else reshaped[0]


def _over_time(power: Values, wear: Wear) -> tuple[NDArray[Any], ...]:
    """Volume, state and, with a geometry, depth over quantiles, if there are any, and time."""
    law, coefficients = law_of(wear.law), dict[str, Any](wear.coefficients)
    power = power[:, None]
    if wear.coefficient_at is not None:
        coefficients["coefficient"] = np.array(list(wear.coefficient_at.values()))[:, None]
        power = power[:, None]
    volume = law.volume(power, np.array(wear.times), coefficients)
    within = np.broadcast_to(law.within(power, coefficients), volume.shape)
    state = np.where(np.isnan(within), MISSING_FLAG, within == 0).astype(np.uint8)
    if wear.geometry is None:
        return volume, state
    depth = geometry_of(wear.geometry, small=wear.small).depth(volume, wear.size)
    worn_through = np.isnan(depth) & ~np.isnan(volume)
    if wear.wall is not None:
        worn_through = worn_through | (depth >= wear.wall)
    return volume, np.where(worn_through, np.uint8(WORN_THROUGH), state), depth


def _to_limit(power: Values, wear: Wear) -> tuple[Values]:
    """The time to the limit, over quantiles if there are any."""
    assert wear.geometry is not None
    both: dict[str, Any] = {**wear.coefficients, **wear.size, "small": wear.small}
    if wear.coefficient_at is not None:
        both["coefficient"] = np.array(list(wear.coefficient_at.values()))
        power = power[:, None]
    return (time_to_depth(wear.law, wear.geometry, power, wear.limit or 0.0, **both),)


def _thresholds(threshold: xr.DataArray, wear: Wear) -> dict[str, xr.Variable]:
    """Volume and depth at each threshold of power, and the time until that is the limit.

    NaN where the power is too low for the law: points of all lower powers have the same wear.
    """
    worn, over = _worn(threshold, "_threshold", wear), TIMES[wear.duration][0]
    within = worn.pop("wear_state_threshold") == 0
    meanings = {
        "wear_volume_threshold": "volume at the threshold of power",
        "wear_depth_threshold": "depth at the threshold of power",
        f"{over}_to_limit_of_threshold": f"{over} until a point there has the limit's depth",
    }
    return {
        name: values.where(within if over in values.dims else within.isel({over: 0}))
        .assign_attrs(long_name=meanings[name])
        .variable
        for name, values in worn.items()
    }

"""The table [reduce]: what it makes, and each of its faults with what would do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sweep.file import load
from sweep.request.sweeps import Reduced, Sweep
from tests.file import documents
from tests.file.documents import PARAMETERS

GOOD: Mapping[str, Any] = {
    "model": "friction_oscillator",
    "parameters": PARAMETERS,
    "axes": {"base_acceleration": {"values": [15.0, 1.5, 3.0]}},
    "sample": {"method": "sobol", "points": 64, "seed": 1, "friction": {"uniform": [0.1, 0.2]}},
    "reduce": {"wear_power": ["mean"], "regime": ["share"]},
}
QUANTILE = {"wear_power": ["quantile 0.5"]}
NO_SAMPLE = {
    "sample": None,
    "axes": {"base_acceleration": {"values": [1.0, 2.0]}, "friction": {"values": [0.1, 0.2]}},
}


def document(**tables: Any) -> dict[str, Any]:
    """The good document with other tables; None removes one."""
    return {key: value for key, value in {**GOOD, **tables}.items() if value is not None}


def sampled(points: int) -> dict[str, Any]:
    return {**GOOD["sample"], "method": "random", "points": points}


def faults(**tables: Any) -> list[str]:
    return documents.faults(document(**tables))


def of_power(*statistics: object) -> dict[str, Any]:
    return {"reduce": {"wear_power": list(statistics)}}


# fmt: off
BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"reduce": {"over": "point", "wear_power": ["mean"]}}, "over: 'point' is not a list of axes"),
    ({"reduce": {"over": [], "wear_power": ["mean"]}}, "over: empty; name one or more of base_"),
    ({"reduce": {"over": ["pint"], "wear_power": ["mean"]}}, "'pint' is no axis; did you mean 'po"),
    ({"reduce": {"over": ["point", "point"], "wear_power": ["mean"]}}, "'point' is listed 2 times"),
    ({"reduce": {"wear_pwer": ["mean"]}}, "wear_pwer: no such output or key; did you mean 'wear_"),
    ({"outputs": ["wear_power"]}, "regime: not computed; add it to outputs"),
    ({"outputs": ["wear_power", "regime", "slip_phases"]},
     "slip_phases: listed in outputs, without a statistic; name its statistics here, or remove"),
    ({"reduce": {"wear_power": [3]}}, "wear_power: [3] is not a list of names"),
    ({"reduce": {"wear_power": []}}, "wear_power: empty; name one or more of mean, standard_dev"),
    (of_power("maen"), "'maen' is not a statistic; did you mean 'mean'?"),
    (of_power("quantile .5", "quantile 0.50"), "'quantile 0.50' is listed more than once"),
    (of_power("quantile half"), "'quantile half': 'half' is not a number"),
    (of_power("quantile 0"), "'quantile 0' is out of range; give a number above 0 and at most 1"),
    (of_power("quantile 95"), "'quantile 95' is out of range; give a number above 0 and at most 1"),
    (of_power("quantile nan"), "'quantile nan': nan is not a finite number"),
    (of_power("share"), "'share' is for flags; write \"share above 2\""),
    (of_power("share above"), "'share above' lacks its number"),
    (of_power("share above 2 m"), "'share above 2 m': '2 m' has the wrong dimension"),
    (of_power("share over 2"), "'share over 2' is not a statistic; did you mean 'share"),
    (of_power("histogram 2.5"), "'histogram 2.5' is out of range; give a whole number of bins"),
    ({"reduce": {"regime": ["part"]}}, "'part' is not a statistic; choose one of share"),
    ({"reduce": {"regime": ["mean"]}}, "'mean' is not for flags; write 'share', the only"),
    ({"sample": {"file": "POINTS"}, "reduce": {"wear_power": ["sobol_indices"]}},
     "sobol_indices need a [sample] whose parameters are drawn, not read from a file"),
    ({"reduce": {"over": ["point", "base_acceleration"], "wear_power": ["mean"]},
      "refine": {"output": "wear_power_mean", "levels": 2, "tolerance": 0.1}},
     "[refine]: [reduce] leaves no axis; reduce over fewer axes"),
    ({"sample": sampled(2**20 + 1), "reduce": {"exact_quantiles": True, **QUANTILE}},
     "exact_quantiles: a cell has 1,048,577 points, and 1,048,576 can be sorted at once; remove"),
    ({"reduce": {"exact_quantiles": True, "wear_power": ["mean"]}},
     "exact_quantiles: there is no quantile; remove it"),
    ({"reduce": {"quantile_bits": 9, "wear_power": ["mean"]}},
     "quantile_bits: there is no quantile; remove it"),
    ({"reduce": {"exact_quantiles": True, "quantile_bits": 9, **QUANTILE}},
     "quantile_bits: exact quantiles have no bins; keep one of the two"),
    ({"reduce": {"quantile_bits": 7, **QUANTILE}}, "quantile_bits: 7 is "),
    ({"reduce": {"quantile_bits": 13, **QUANTILE}}, "quantile_bits: 13 is "),
    ({"reduce": {"quantile_bits": 8.5, **QUANTILE}}, "quantile_bits: 8.5 is "),
]
# fmt: on


@pytest.mark.parametrize(("tables", "gist"), BROKEN)
def test_broken_reduction(tables: dict[str, Any], gist: str, tmp_path: Path) -> None:
    if "file" in (tables.get("sample") or {}):
        (tmp_path / "points.csv").write_text("friction\n0.1\n")
        tables = {**tables, "sample": {"file": str(tmp_path / "points.csv")}}
    messages = faults(**tables)
    assert len(messages) == 1, messages
    assert gist in messages[0]
    assert "[reduce]" in messages[0] or "[refine]" in messages[0]


@pytest.mark.parametrize(
    ("tables", "place"),
    [
        ({"axes": {"base_acceleration": {"linspace": [1.0, 2.0]}},
          "reduce": {"over": ["base_acceleration"], "wear_power": ["mean"]}},
         "[axes] base_acceleration"),
        ({"sample": {"method": "sobol", "points": -1, "friction": {"uniform": [0.1, 0.2]}}},
         "[sample] points"),
        ({"sample": {"method": "sobol", "points": 8, "friction": {"uniform": [0.1]}},
          "reduce": {"wear_power": ["sobol_indices"]}},
         "[sample] friction"),
    ],
)  # fmt: skip
def test_no_fault_of_statistics_follows_from_a_faulty_axis(
    tables: dict[str, Any], place: str
) -> None:
    (only,) = faults(**tables)
    assert only.startswith(f"{place}: ")


def test_all_faults_come_at_once_beside_those_of_an_axis() -> None:
    reduce = {"over": ["pint"], "wear_power": ["maen", "quantile 2"], "regime": ["mean"], "x": []}
    found = faults(
        axes={"base_acceleration": {"linspace": [1.0, 2.0]}},
        reduce=reduce,
        parameters={**GOOD["parameters"], "mass": -1.0},
    )
    assert sorted(each.split(":")[0] for each in found) == [
        "[axes] base_acceleration", "[parameters] mass", "[reduce] over", "[reduce] regime",
        "[reduce] wear_power", "[reduce] wear_power", "[reduce] x",
    ]  # fmt: skip


def test_thresholds_have_units_and_statistics_no_order() -> None:
    one = load(document(**of_power("share above 2 kW", "quantile 0.5", "mean"))).sweep
    other = load(document(**of_power("mean", "quantile  5e-1", "share above 2000"))).sweep
    assert isinstance(one, Reduced)
    assert isinstance(other, Reduced)
    assert one.statistics == other.statistics
    assert [output.name for output in one.outputs] == [
        "wear_power_mean",
        "wear_power_mean_error",
        "wear_power_quantile",
        "wear_power_share_above",
        "points_by_status",
    ]
    assert one.outputs[3].labels[0].values == (2000.0,)


def test_one_point_is_not_reduced() -> None:
    at = ["friction=0.15", "base_acceleration=2"]
    assert isinstance(load(document(), at=at).sweep, Sweep)

"""The record of SDND104: it holds, and says what lies behind the document's figures."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import sweep
from sweep.theory.friction_oscillator import asymptotic_wear_power
from sweep.verify.sdnd104 import compute, plain, record_of, table_excitation
from sweep.verify.sdnd104.published import (
    BLOCKS,
    SLIPPING,
    SPRING,
    TABLE_INTERVALS,
    TABLE_LENGTH,
)
from sweep.verify.sdnd104.wear_powers import Figures
from sweep.verify.writing import as_json, markdown
from tests.command import CHECKOUT
from tests.oracles import penalised_schemes
from tests.verify.last_bits import perturbed

pytestmark = pytest.mark.broad  # it compiles every method of the model
COMMITTED = CHECKOUT / "results" / "verification"
WINDOW = (4.0, 12.0)


@pytest.fixture(scope="module")
def figures() -> Figures:
    return compute()


@pytest.fixture(scope="module")
def sdnd104(figures: Figures) -> dict[str, Any]:
    """The record of a fresh run, as plain values."""
    return as_json(record_of(figures))


def rows(record: dict[str, Any], table: str, **cells: object) -> list[dict[str, Any]]:
    (all_rows,) = (each["rows"] for each in record["tables"] if each["name"] == table)
    return [row for row in all_rows if cells.items() <= row.items()]


def test_the_committed_record_is_that_of_a_fresh_run(sdnd104: dict[str, Any]) -> None:
    kept = json.loads((COMMITTED / "sdnd104.json").read_text(encoding="utf-8"))
    for fresh, committed in zip(sdnd104["tables"], kept["tables"], strict=True):
        assert fresh == committed
    assert sdnd104 == kept


def test_last_bits_do_not_change_the_record(figures: Figures) -> None:
    text = markdown(record_of(figures))
    for seed in range(5):
        assert markdown(record_of(perturbed(figures, np.random.default_rng(seed)))) == text


def test_every_check_holds(sdnd104: dict[str, Any]) -> None:
    assert [check for check in sdnd104["checks"] if check["holds"] != "yes"] == []
    assert sdnd104["holds"]


def test_the_reference_table_belongs_to_the_longer_window(sdnd104: dict[str, Any]) -> None:
    """Against 50-digit arithmetic, of which the document's numbers are roundings."""
    expected = {
        15.0: (15.267099589372, 15.257521793944, 15.266764915376),
        1.5: (0.40906245101571, 0.40910313286351, 0.409062758890),
        1.01: (2.2616412127979e-4, 2.2644718025511e-4, 2.2616412588e-4),
        0.99: (0.0, 0.0, 0.0),
    }
    for row in rows(sdnd104, "reference"):
        longer, shorter, sprung = expected[row["base_acceleration"]]
        assert row["exact"] == pytest.approx(longer, rel=1e-12, abs=0)
        assert row["exact_shorter"] == pytest.approx(shorter, rel=1e-12, abs=0)
        assert row["sprung"] == pytest.approx(sprung, rel=1e-10, abs=0)
        assert row["document"] == pytest.approx(longer, rel=2e-7, abs=0)
        assert not longer or abs(row["document"] / shorter - 1) > 5e-5


def test_accumulated_time_reproduces_the_newer_values(sdnd104: dict[str, Any]) -> None:
    """To the last of their 12 digits."""
    expected = {15.0: 15.2667964799, 1.5: 0.409077335988, 1.01: 2.26326449113e-4, 0.99: 0.0}
    for row in rows(sdnd104, "since"):
        value = expected[row["base_acceleration"]]
        assert (row["published"], row["drifting"]) == (value, value)


def test_no_wear_at_the_smallest_acceleration(sdnd104: dict[str, Any]) -> None:
    for table in ("columns", "windows", "equal_steps", "since", "tabulated"):
        for row in rows(sdnd104, table, base_acceleration=0.99):
            assert {row[key] for key in ("ours", "time_mean", "blocks", "table") if key in row} == {
                0
            }


def test_shares_add_up_to_the_printed_value(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "shares"):
        mean = row["exact"] + row["spring"] + row["law_and_scheme"]
        assert mean == pytest.approx(row["time_mean"], rel=1e-7)
        assert mean + row["gaps"] == pytest.approx(row["printed"], rel=1e-7)
    (row,) = rows(sdnd104, "shares", base_acceleration=15.0)
    assert (row["spring"], row["law_and_scheme"], row["gaps"]) == pytest.approx(
        (-3.35e-4, 6.23e-4, -5.92e-4), abs=5e-7
    )


def test_only_the_greater_stiffness_gives_the_published_values(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "stiffness")[:3]:
        assert abs(row["used_relative"]) < 1e-11
        assert abs(row["named_relative"]) > 1e-5


def test_no_variant_reproduces_two_column_values(sdnd104: dict[str, Any]) -> None:
    for row in rows(sdnd104, "unexplained"):
        assert row["least"] < row["greatest"] < row["document"] * (1 - 2e-3)


def test_greatest_differences_printed_and_computed(sdnd104: dict[str, Any]) -> None:
    """By hand from the printed columns, in percent."""
    expected = {
        "2017": [
            (0.0065, 100 * (15.26709959 - 15.2655) / 15.26709959),
            (0.0078, 100 * (0.409071 - 0.40906245) / 0.40906245),
            (2.45, 100 * (2.31715 - 2.261641) / 2.261641),
            (0.0, 0.0),
        ],
        "2003": [
            (0.007, 100 * (15.26709959 - 15.2660) / 15.26709959),
            (0.004, 100 * (0.409077 - 0.40906245) / 0.40906245),
            (0.072, 100 * (2.26316 - 2.261641) / 2.261641),
            (0.0, 0.0),
        ],
    }
    for edition, figures_of_edition in expected.items():
        edition_rows = rows(sdnd104, "greatest", edition=edition)
        for row, (document, by_hand) in zip(edition_rows, figures_of_edition, strict=True):
            assert row["document"] == document
            assert row["columns"] == pytest.approx(by_hand, rel=5e-3)


def test_the_stiffness_called_unstable_is_stable(sdnd104: dict[str, Any]) -> None:
    """Limits of stability in units of 1/√(K_T/m), with critical damping: EULER's is 2√2 − 2."""
    (euler,) = rows(sdnd104, "stability", method="EULER")
    for name, stiffness in (("used", 9e6), ("claimed", 1e6), ("ten_times", 1e7)):
        assert euler[name] == pytest.approx((2 * 2**0.5 - 2) / stiffness**0.5, rel=5e-3)
    for row in rows(sdnd104, "stability"):
        assert row["ten_times"] > 1e-4
        assert row["stiffest_long"] > 1e7
    for row in rows(sdnd104, "instability"):
        for name in ("claimed", "ten_times"):
            assert row[name] == pytest.approx(row["reference"], rel=6e-3)


def test_slip_reverses_as_the_documents_recurrence_has_it(figures: Figures) -> None:
    """The document's Maple program: lines of slope ±μg that meet the plane's velocity."""
    omega, a0, grip = 2 * math.pi, 15.0, 1.0

    def plane(time: float) -> float:
        return -a0 / omega * math.cos(omega * time)

    instant = math.asin(grip / a0) / omega
    for n, reversal in enumerate(figures.reversals):
        sign, start = (-1) ** n, instant

        def apart(time: float, sign: int = sign, start: float = start) -> float:
            return plane(start) + sign * grip * (time - start) - plane(time)

        times = np.linspace(start + 0.1, start + 1, 901)  # no slip is shorter than 0.1 s
        gaps = np.array([apart(time) for time in times])
        bracket = np.flatnonzero(gaps[:-1] * gaps[1:] < 0)[0]
        instant = brentq(apart, times[bracket], times[bracket + 1], xtol=1e-14)
        assert reversal == pytest.approx(instant, abs=1e-9)


def test_deviations_from_the_limit_shrink_by_the_contraction(sdnd104: dict[str, Any]) -> None:
    last = rows(sdnd104, "reversals")[-1]
    acceleration = (15.0**2 - (math.pi / 2) ** 2) ** 0.5
    assert last["limit"] == pytest.approx(math.acos(math.pi / 30) / (2 * math.pi), rel=1e-9)
    assert last["contraction"] == pytest.approx((1 - acceleration) / (1 + acceleration), rel=1e-3)
    assert last["ratio"] == pytest.approx(last["contraction"], rel=1e-3)


# --- The excitation from a table ---


def steady(a0: float) -> float:
    return float(asymptotic_wear_power(1.0, 10.0, 0.1, a0, 2 * math.pi))


@pytest.mark.parametrize(("a0", "shift"), [(1.5, -2.4e-5), (1.01, -9.5e-4)])
def test_the_shift_by_the_table_is_of_second_order_in_its_intervals(
    a0: float, shift: float
) -> None:
    """The limit is the closed form of stick-slip: [4, 12] s is eight whole periods."""
    coarse, fine = (
        table_excitation.wear_power(a0, WINDOW, intervals) / steady(a0) - 1
        for intervals in (10_000, 40_000)
    )
    assert coarse == pytest.approx(shift, rel=0.03)
    assert coarse / fine == pytest.approx(16, rel=0.01)


def test_a_fine_table_gives_the_exact_power_in_slip_slip() -> None:
    power = table_excitation.wear_power(15.0, WINDOW, 100_000)
    assert power == pytest.approx(15.267099589372, rel=1e-7)


@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_plain_schemes_agree_with_the_oracle(scheme: str) -> None:
    """With the table, over one period with slip and stick."""
    sine = table_excitation.sine_table()
    point = {
        "m": 1, "g": 10, "mu": 0.1, "k": 3e-5, "c": 0, "a0": 1.5, "w": 2 * math.pi,
        "av": 0, "phi": 0, "t0": 0.25, "t1": 1.25,
    }  # fmt: skip
    settings: dict[str, Any] = {"step": 1e-4, "tangential_stiffness": 9e6, "blocks": 8}

    def of_angle(angle: float) -> float:
        return sine(angle / (2 * math.pi))

    expected = penalised_schemes.run(scheme, point, sine=of_angle, **settings)
    assert expected is not None
    power = plain.wear_power(getattr(plain, scheme), 1.5, sine, (0.25, 1.25))
    assert power == pytest.approx(expected["wear_power"], rel=1e-11)


@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_plain_schemes_agree_with_the_kernels(scheme: str, sdnd104: dict[str, Any]) -> None:
    name = {"euler": "EULER", "devogelaere": "DEVOGE"}[scheme]
    (row,) = rows(sdnd104, "columns", base_acceleration=1.5, method=name)
    power = plain.wear_power(getattr(plain, scheme), 1.5, table_excitation.true_sine, WINDOW)
    assert power == pytest.approx(row["ours"], rel=1e-11)


@pytest.mark.parametrize("scheme", ["euler", "devogelaere"])
def test_kernels_with_the_table_give_the_values_of_the_runs(scheme: str, figures: Figures) -> None:
    """A sweep whose excitation is the table of the runs of 2013, with their 8 blocks."""
    step = TABLE_LENGTH / TABLE_INTERVALS
    times = [i * step for i in range(TABLE_INTERVALS + 1)]
    for a0 in SLIPPING:
        values = [a0 * math.sin(2 * math.pi * time) for time in times]
        parameters = {
            "mass": 1, "gravity": 10, "friction": 0.1, "stiffness": SPRING, "blocks": BLOCKS,
            "window_start": 4, "window_end": times[-1], "step": 1e-4, "tangential_stiffness": 9e6,
            "base_acceleration": {"times": times, "values": values},
        }  # fmt: skip
        source = {"model": "friction_oscillator", "method": scheme, "parameters": parameters}
        power = float(sweep.run({**source, "outputs": ["wear_power"]}, store=None)["wear_power"])
        assert power == pytest.approx(figures.tabulated_schemes[scheme, a0], rel=1e-11)

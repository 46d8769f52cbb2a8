"""The record of Hanisch, Richter, Li 2020: it holds, and gives the errors of the formulas."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import sweep
import sweep.verify.hanisch2020.energies
from sweep.theory import mdr_contact as theory
from sweep.verify import documents
from sweep.verify.hanisch2020 import coefficients, compute, record_of
from sweep.verify.hanisch2020.energies import Figures
from sweep.verify.record import Record
from sweep.verify.writing import as_json, markdown
from tests.command import CHECKOUT
from tests.oracles import mdr_contact as oracle
from tests.verify.last_bits import perturbed

COMMITTED = CHECKOUT / "results" / "verification"


@pytest.fixture(scope="module")
def figures() -> Figures:
    return compute()


@pytest.fixture(scope="module")
def record(figures: Figures) -> Record:
    return record_of(figures)


def rows(record: Record, name: str, **cells: object) -> list[dict[str, Any]]:
    (table,) = (each for each in as_json(record)["tables"] if each["name"] == name)
    return [row for row in table["rows"] if cells.items() <= row.items()]


def fit_row(record: Record, formula: str, curve: str) -> dict[str, Any]:
    (row,) = rows(record, "fits", formula=formula, curve=curve)
    return row


def test_it_is_a_document_and_holds(record: Record) -> None:
    assert "hanisch2020" in documents()
    assert [check.claim for check in record.checks if not check.holds] == []
    assert record.verdict == "All 15 checks hold."


def test_figure_2_and_other_phases(record: Record) -> None:
    """Exact energies by the independent oracle; eq. 24 by hand: 1, sin² 153°, 1/(4·1.07)."""
    figure_2, far, near, ahead, behind = rows(record, "cases")
    assert figure_2["exact"] == 0.771809
    assert (figure_2["paper"], round(100 * figure_2["relative"])) == (1, 30)
    assert far["paper"] == pytest.approx(0.25 / 1.2, rel=1e-5)
    assert round(100 * far["relative"]) == -55
    assert near["paper"] == pytest.approx(0.25 / 1.07, rel=1e-5)
    assert round(near["times"]) == 179
    assert (round(ahead["exact"], 4), round(behind["exact"], 4)) == (0.0531, 0.2119)
    for row in (figure_2, far, near, ahead, behind):
        phase = math.radians(row["phase"])
        exact = oracle.normalized_energy(row["beta"], row["delta"], phase, 2.0, 1e-9)
        assert row["exact"] == pytest.approx(float(np.ravel(exact.value)[0]), rel=1e-4)


def test_the_second_cycle_of_figure_2_is_that_of_the_kernel(figures: Figures) -> None:
    """The kernel's second-order springs: their state differs only where slip begins or ends."""
    second = figures.cycles.map.isel(time=slice(500, 1001, 10))
    request = {
        "model": "mdr_contact",
        "method": "time_stepping_2",
        "parameters": {"beta": 0.7268, "delta": 0.01, "phase": math.pi / 2, "springs": 4000},
    }
    times = second["time"].to_numpy() - 2 * math.pi
    kernel = sweep.trace(request, times=np.clip(times, 0, 2 * math.pi))
    states = kernel["spring_state"].sel(spring=second["spring"].to_numpy(), method="nearest")
    differing = states.to_numpy() != second["spring_state"].to_numpy()
    assert differing.mean() < 0.01
    assert set(np.unique(second["spring_state"])) == {0, 1, 2}


def test_only_the_first_cycle_differs(record: Record) -> None:
    first, second, third = rows(record, "cycles")
    assert abs(first["from_second"]) > 0.1
    assert third["from_second"] == 0
    assert abs(second["relative"]) < 1e-4
    assert "the second cycle is already periodic" in markdown(record)


def test_regions_meet_in_kinks(record: Record) -> None:
    """Against W̄δ = 2ξ − 8ξ²/5 and W̄ = (1 + 2β²)²/(4β(1 + β²)^{3/2})."""
    slip, peak, core, stick, least = rows(record, "borders")
    xi = 8**-0.5
    assert slip["exact"] == pytest.approx(2 * xi - 1.6 * xi**2, rel=1e-5)
    assert round(100 * slip["relative"]) == 39
    assert (peak["x"], peak["exact"]) == (0.625, 0.625)
    assert core["exact"] == 0.4
    assert stick["exact"] == pytest.approx(1.125**2 / 1.0625**1.5, rel=1e-5)
    assert least["exact"] == pytest.approx(4 / 27**0.5, rel=1e-5)


def test_errors_of_the_papers_fits(record: Record) -> None:
    slip, stick = (fit_row(record, "eq. 25", "W̄δ over ξ"), fit_row(record, "eq. 27", "W̄ over β"))
    assert f"{slip['worst']:.1%}" == "9.3%"
    assert f"{stick['worst']:.1%}" == "3.3%"
    assert slip["rms"] < slip["worst"]
    assert (slip["n_coefficients"], stick["n_coefficients"]) == ("10", "7")


def test_our_fits_are_within_a_tenth_of_a_percent_with_fewer_coefficients(record: Record) -> None:
    for kind in ("least squares", "minimax"):
        fits = [fit_row(record, f"ours, {kind}", curve) for curve in ("W̄δ over ξ", "W̄ over β")]
        assert max(row["worst"] for row in fits) < 1e-3
        assert sum(int(row["n_coefficients"]) for row in fits) == 14
    listed = [row for row in rows(record, "coefficients") if row["coefficient"] != "Q0"]
    assert len(listed) == 14


def test_the_coefficients_of_the_table_give_the_errors_of_the_table(
    record: Record, figures: Figures
) -> None:
    """Evaluated as a reader of the table would: six digits are enough."""

    def side(letter: str, kept: list[dict[str, Any]], t: np.ndarray) -> np.ndarray:
        numbers = [row["value"] for row in kept if row["coefficient"].startswith(letter)]
        return np.polynomial.polynomial.polyval(t, numbers)

    for variable, curve, span, argument, prefactor in (
        ("xi", "W̄δ over ξ", "0 to 1", lambda x: x, lambda x: x),
        ("xi", "W̄δ over ξ", "1 to 4", lambda x: np.sqrt(1 - 1 / x), lambda x: 1 / x),
        ("beta", "W̄ over β", "0.1 to 1e+06", lambda x: x, lambda x: 1 / x),
    ):
        kept = rows(record, "coefficients", curve=curve, range=span)
        low, high = map(float, span.split(" to "))
        x, energy_of_points = figures.curves[variable].x, figures.curves[variable].energy
        inside = (x >= low) & (x <= high)
        t = argument(x[inside])
        energy = prefactor(x[inside]) * side("P", kept, t) / side("Q", kept, t)
        worst = np.max(np.abs(energy / energy_of_points[inside] - 1))
        assert worst <= fit_row(record, "ours, least squares", curve)["worst"] + 1e-5


def test_closed_forms_are_the_exact_energies(record: Record) -> None:
    assert fit_row(record, "closed form", "W̄δ over ξ")["worst"] < 1e-10
    assert fit_row(record, "closed form", "W̄ over β")["worst"] < 3e-6  # δ = 1e-6: 1/(4ξ)


def test_the_published_coefficients_are_those_of_the_theory() -> None:
    xi, beta = np.linspace(0.01, 3.99, 50), np.geomspace(0.11, 100, 50)
    assert theory.slip_transition(xi) == pytest.approx(coefficients.equation_25(xi), rel=1e-13)
    as_printed = coefficients.equation_27(beta, -4.0017e-6)
    assert theory.stick_transition(beta) == pytest.approx(as_printed, rel=1e-12)


def test_readings(record: Record) -> None:
    plus, none, near, far = rows(record, "readings")
    assert f"{plus['change']:.0%}" == "91%"
    assert none["change"] < 1.2e-4
    assert near["change"] < 1e-3 < far["change"]
    text = markdown(record)
    assert "It is minus" in text
    assert "2.35 times as large" in text


def test_a_wrong_figure_fails_a_check(figures: Figures) -> None:
    compared = tuple(
        dataclasses.replace(each, distance=dataclasses.replace(each.distance, greatest=2e-3))
        if each.label == "ours, least squares"
        else each
        for each in figures.compared
    )
    assert record_of(dataclasses.replace(figures, compared=compared)).verdict == (
        "2 of 15 checks do not hold."
    )


def test_the_committed_record_is_that_of_a_fresh_run(record: Record) -> None:
    kept = json.loads((COMMITTED / "hanisch2020.json").read_text(encoding="utf-8"))
    assert as_json(record) == kept


def test_last_bits_do_not_change_the_record(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The energies' last bits, through all fits: so much the record depends on the machine."""
    random = np.random.default_rng(1)
    exact = sweep.verify.hanisch2020.energies.computed

    def perturbed_energies(*request: Any) -> xr.Dataset:
        return perturbed(exact(*request), random)

    monkeypatch.setattr(sweep.verify.hanisch2020.energies, "computed", perturbed_energies)
    assert markdown(record_of(compute())) == markdown(record)


PRINT_RECORD = """
from sweep.verify.hanisch2020 import compare
from sweep.verify.writing import markdown
print(markdown(compare()), end="")
"""


@pytest.mark.broad
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names of x86 processors")
@pytest.mark.parametrize("processor", ["Nehalem", "Haswell"])
def test_the_record_does_not_depend_on_the_blas(record: Record, processor: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_RECORD],
        env={**os.environ, "OPENBLAS_CORETYPE": processor, "PYTHONUTF8": "1"},
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == markdown(record)


def test_pictures_are_small(record: Record, tmp_path: Path) -> None:
    assert [each.name for each in record.pictures] == [
        f"hanisch2020_fig{number}.png" for number in (2, 3, 4, 5)
    ]
    for picture in record.pictures:
        picture.draw(tmp_path / picture.name)
        assert (tmp_path / picture.name).stat().st_size < 200_000

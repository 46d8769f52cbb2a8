"""Every record: it is the committed one on any machine, and a wrong figure fails a check."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import sweep
from tests.validation import DOCUMENTS
from tests.validation.comparison import RESULTS, Ours, compute, json_text, markdown, record_of

SLOW = ("sdnd104", "sdnl112", "sdnl301")  # every method of a model, many draws, a large model
documents = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.broad if name in SLOW else ()) for name in DOCUMENTS],
)
CHECKED = (None, "eq. 25", "eq. 27")  # formulas of rows that checks cite

computed = cache(compute)


def committed(name: str, suffix: str) -> str:
    return (RESULTS / f"{name}.{suffix}").read_text(encoding="utf-8")


@pytest.mark.broad
@documents
def test_the_committed_record_is_that_of_a_fresh_run(name: str) -> None:
    record = record_of(name, computed(name))
    assert record == json.loads(committed(name, "json"))
    assert json_text(record) == committed(name, "json")
    assert markdown(record) == committed(name, "md")
    assert record["holds"]
    pictures = [picture["file"] for picture in record["pictures"]]
    assert pictures == [*computed(name).pictures]
    assert all((RESULTS / picture).is_file() for picture in pictures)


@documents
def test_last_bits_do_not_change_the_record(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the outputs of the sweeps, through all that is computed of them, and of the figures."""
    run = sweep.run
    monkeypatch.setattr(sweep, "run", lambda *args, **options: run(*args, **options).map(rounded))
    fresh = compute(name)
    rows = {
        table: [{key: rounded(cell) for key, cell in row.items()} for row in rows]
        for table, rows in fresh.rows.items()
    }
    others = {key: rounded(value) for key, value in fresh.others.items()}
    assert markdown(record_of(name, Ours(rows, others, fresh.pictures))) == committed(name, "md")


def rounded(figures: Any) -> Any:
    """Floating-point figures as another machine may round them: equal ones alike."""
    numbers = np.asarray(figures)
    if numbers.dtype.kind != "f":
        return figures
    bits = np.atleast_1d(numbers.astype(float)).view(np.int64)
    ulps = (bits * np.int64(0x9E3779B97F4A7C1)) >> 61  # -4 to 3, which looks random
    changed = figures * (1 + ulps.reshape(numbers.shape) * 2.0**-52)
    return float(changed) if isinstance(figures, float) else changed


@pytest.mark.parametrize(
    ("name", "table", "figure", "error"),
    [
        ("sdnd100", "turns", "ours", 2e-10),
        ("sdnd100", "times", "time", 2e-10),
        ("sdnd101", "contacts", "ours", 2e-10),
        ("sdnd102", "displacements", "stop", 2e-10),
        ("sdnd102", "displacements", "pair", 2e-10),
        ("sdnd102", "stepped", "stepped", 1e-5),
        ("sdnd106", "figures", "ours", 2e-10),
        ("sdnd106", "ends", "ramped", 2e-10),
        ("sdnd106", "ends", "held", 2e-10),
        ("sdnd106", "arrests", "ours", 2e-10),
        ("sdnl111", "modes", "ours", 1e-7),
        ("sdnl111", "modes", "exact_20", 0.6),
        pytest.param("sdnl301", "forces", "ours", 1e-6, marks=pytest.mark.broad),
        pytest.param("sdnl301", "meshes", "exact_48_25", 0.4, marks=pytest.mark.broad),
        pytest.param("sdnl112", "shapes", "ours", 0.06, marks=pytest.mark.broad),
        pytest.param("sdnl112", "linear", "errors", 2.0, marks=pytest.mark.broad),
        pytest.param("sdnl112", "singles", "share", 0.1, marks=pytest.mark.broad),
        ("sdnl32", "modes", "ours", 1e-6),
        ("sdnl32", "modes", "exact_61", 0.05),
        ("zzzz405a", "volumes", "ours", 1e-11),
        ("sdnd122", "methods", "exact", 1e-12),
        ("sdnd124", "figures", "ours", 2e-10),
        ("sdnd124", "stepped", "stepped", 3e-4),
        ("sdnd125", "forces", "ours", 1e-10),
        ("sdnd125", "forces", "stepped", 2e-11),
        ("sdnd125", "contacts", "ours", 1e-10),
        ("sdnd122", "methods", "newmark", 1e-4),
        ("sdnd122", "methods", "as_code_aster", 1e-4),
        ("hanisch2020", "fits", "worst", 1.0),
    ],
)
def test_a_wrong_figure_fails_a_check(name: str, table: str, figure: str, error: float) -> None:
    """In any row, with the others right."""
    right = computed(name)
    rows = right.rows[table]
    checked = [i for i, row in enumerate(rows) if row.get("formula") in CHECKED]
    for i in checked:
        wrong = {**rows[i], figure: rows[i][figure] * (1 + error) or error}
        changed = {**right.rows, table: [*rows[:i], wrong, *rows[i + 1 :]]}
        assert not record_of(name, right._replace(rows=changed))["holds"], rows[i]

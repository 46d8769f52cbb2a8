"""The record of SDND122: it holds, and says where and by how much the document is wrong."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from sweep.verify import documents
from sweep.verify.record import Record
from sweep.verify.sdnd122 import Figures, compute, record_of
from sweep.verify.writing import as_json, markdown
from tests.command import CHECKOUT
from tests.points.impact_oscillator import RIGHT
from tests.verify.last_bits import perturbed


@pytest.fixture(scope="module")
def figures() -> Figures:
    return compute()


@pytest.fixture(scope="module")
def record(figures: Figures) -> Record:
    return record_of(figures)


def rows_of(record: Record, name: str) -> list[dict[str, float]]:
    (table,) = (each for each in as_json(record)["tables"] if each["name"] == name)
    return table["rows"]


def test_it_is_a_document_and_holds(record: Record) -> None:
    assert "sdnd122" in documents()
    assert record.holds
    assert record.verdict == "All 8 checks hold."


def test_the_committed_record_is_that_of_a_fresh_run(record: Record) -> None:
    kept = (CHECKOUT / "results" / "verification" / "sdnd122.json").read_text(encoding="utf-8")
    assert as_json(record) == json.loads(kept)


def test_last_bits_do_not_change_the_record(figures: Figures, record: Record) -> None:
    for seed in range(5):
        changed = perturbed(figures, np.random.default_rng(seed))
        assert markdown(record_of(changed)) == markdown(record)


def test_the_three_pairs(record: Record) -> None:
    pairs = rows_of(record, "pairs")
    assert [row["document"] for row in pairs] == [0.64622, 0.64661, 0.6461]
    assert [f"{row['right']:.10f}" for row in pairs] == RIGHT
    for row in pairs:
        assert round(row["formula"], 5) == row["document"]
        assert row["relative"] == pytest.approx(row["document"] / row["right"] - 1, rel=1e-3)
        assert -6.5e-4 < row["relative"] < -6.2e-4
    methods = rows_of(record, "methods")
    assert [row["code_aster"] for row in methods] == [0.646703, 0.647088, 0.646585]
    assert all(abs(row["difference"]) < 1.5e-6 for row in methods)


def test_the_ranges_of_stability_do_not_match(record: Record) -> None:
    low, high = rows_of(record, "ranges")
    assert (round(low["its_frequency"], 5), round(high["its_frequency"], 5)) == (0.64513, 0.64848)
    assert (low["frequency"], high["frequency"]) == (0.644, 0.6475)
    assert "do not match" in record.notes[3]


def test_sampled_stiffness_makes_most_energies_unstable(figures: Figures) -> None:
    """59 % of them, with multipliers up to 1.11; none with the mean stiffness."""
    sampled = figures.moduli["sampled"]
    assert np.mean(sampled >= 1.01) == pytest.approx(0.59, abs=0.01)
    assert sampled.max() == pytest.approx(1.11, abs=0.005)
    assert 1.004 < figures.moduli["newmark"].max() < 1.0064


def test_the_notes_name_the_documents_errors(record: Record) -> None:
    text = markdown(record)
    assert "The document's contact time is wrong" in text
    assert "lacks the term −kKe² under the root" in text
    assert "too low by 6.26e-04 to 6.38e-04" in text
    assert "Jordan block" in text


def test_a_wrong_figure_fails_a_check(figures: Figures) -> None:
    wrong = dataclasses.replace(figures, newmark=figures.newmark * (1 + 1e-4))
    assert not record_of(wrong).holds
    wrong = dataclasses.replace(figures, as_code_aster={5: figures.exact, **{
        n: figures.as_code_aster[n] for n in (10, 20, 40)
    }})  # fmt: skip
    assert record_of(wrong).verdict == "1 of 8 checks do not hold."

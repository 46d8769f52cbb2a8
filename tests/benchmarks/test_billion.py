"""The stores whose scan is timed are half done."""

from __future__ import annotations

import pytest

from sweep.store import Store
from tests.benchmarks import billion


def test_every_other_chunk_of_a_scanned_store_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billion, "SCANNED", 2000)
    counts: list[tuple[int, int]] = []
    pending = Store.pending

    def counted(store: Store) -> object:
        chunks = pending(store)
        counts.append((len(chunks), store.n_chunks))
        return chunks

    monkeypatch.setattr(Store, "pending", counted)
    assert len(list(billion.scans(quick=True))) == 2
    scanned = [each for each in counts if each[0] < each[1]]  # others are new
    assert len(scanned) == 2
    assert all(n_pending == n_chunks // 2 for n_pending, n_chunks in scanned)

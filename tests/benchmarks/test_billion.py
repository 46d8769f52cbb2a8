"""The stores whose scan is timed are half done."""

from __future__ import annotations

from pathlib import Path

from sweep.store import Store
from tests.benchmarks.billion import scans


def test_every_other_chunk_of_a_scanned_store_is_done(tmp_path: Path) -> None:
    assert len(list(scans(20, tmp_path))) == 2
    stores = [Store.open(path) for path in tmp_path.glob("*.zarr")]
    assert [(len(store.pending()), store.n_chunks) for store in stores] == 2 * [(10, 20)]

"""One store holds the values of one kernel, unless the user accepts another; then receipts say so.

"Another kernel" is a copy of the headers with one token changed, or a store whose metadata names a
digest that no kernel has.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import sweep
from sweep.cli import main
from sweep.engine.driver import open_store, run_in_store, with_points
from sweep.engine.worker_process import Code, Job, UnfitError, forget_run
from sweep.errors import MachineError, StoreError
from sweep.file import load
from sweep.kernel.opening import open_backend
from sweep.kernel.source import kernel_digest
from sweep.model.shipped import configs_folder
from sweep.request.chunk import Task
from sweep.request.options import RunOptions
from sweep.request.sweeps import Request
from sweep.store import Store
from tests.command import Run
from tests.store.test_store import results_of

SMOKE = configs_folder() / "smoke" / "wear_power.toml"
REFINED = configs_folder() / "smoke" / "wear_power_refined.toml"
HEADER = "models/friction_oscillator/scaled.h"
NO_KERNEL = "tokens:" + 64 * "0"
CURE = "accept_revision = true"


@pytest.fixture
def request_() -> Request:
    return load(SMOKE, ["run.chunk_points=14"])


def create(path: str | Path, request: Request, **options: bool) -> Store:
    provenance = {"kernel_digest": kernel_digest(request.sweep)}
    return Store.create(path, request.sweep, chunk_points=14, provenance=provenance, **options)


def begun(path: str | Path, request: Request) -> Store:
    """A store with one chunk done."""
    store = create(path, request)
    chunk = store.pending()[0]
    store.write(chunk, results_of(store.sweep, chunk))
    return store


def begun_by_no_kernel(path: Path, request: Request) -> Store:
    """The same, of a digest that no kernel has."""
    rename_kernel(begun(path, request).path)
    return Store.open(path)


def rename_kernel(store: Path) -> None:
    text = (store / "zarr.json").read_text()
    digest = json.loads(text)["attributes"]["kernel_digest"]
    (store / "zarr.json").write_text(text.replace(digest, NO_KERNEL))


def insert(header: Path, line: str) -> None:
    header.write_text(header.read_text().replace("#pragma once\n", f"#pragma once\n{line}\n"))


def change_code(kernels: Path) -> None:
    insert(kernels / HEADER, "constexpr int one_more = 1;")


@pytest.mark.parametrize("place", ["{}/map.zarr", "memory://{}/map.zarr"])
def test_a_changed_kernel_is_refused_and_a_changed_comment_is_not(
    tmp_path: Path, copied_kernels: Path, request_: Request, place: str
) -> None:
    path = place.format(tmp_path)
    before = begun(path, request_).made_by.kernel_digest
    insert(copied_kernels / HEADER, "\n// A comment, and lines that move.\n")
    assert len(create(path, request_).pending()) == 2
    change_code(copied_kernels)
    after = kernel_digest(request_.sweep)
    with pytest.raises(StoreError, match=CURE) as caught:
        create(path, request_)
    assert str(before) in str(caught.value)
    assert after in str(caught.value)
    assert create(path, request_, accept_revision=True).made_by.kernel_digest == before


def test_a_finished_store_is_returned_whatever_the_kernel_but_not_computed_anew(
    tmp_path: Path, request_: Request
) -> None:
    store = begun_by_no_kernel(tmp_path / "map.zarr", request_)
    for chunk in store.pending():
        store.write(chunk, results_of(store.sweep, chunk))
    reopened = create(store.path, request_)
    (reopened.path / "status/c/0/0").unlink()
    assert len(reopened.pending()) == 1
    with pytest.raises(StoreError, match=CURE):
        create(store.path, request_)
    chunk = reopened.done()[0]
    with pytest.raises(StoreError, match=CURE):
        reopened.reopen([chunk])
    assert chunk in reopened.done()


@pytest.mark.parametrize("digest", ["0123abcd", None])
def test_a_store_of_an_earlier_version_is_continued(
    tmp_path: Path, request_: Request, digest: str | None
) -> None:
    """Its digest is of the raw text, or missing."""
    provenance = {"kernel_digest": digest}
    for _ in range(2):
        store = Store.create(tmp_path / "map.zarr", request_.sweep, provenance=provenance)
    store.made_by.refuse_other_code()


def test_receipts_and_status_say_which_kernels_have_computed_a_store(
    tmp_path: Path, request_: Request, run: Run
) -> None:
    store = begun_by_no_kernel(tmp_path / "map.zarr", request_)
    store.append_receipt({"chunk": [0, 0], "points": 14, "counts": {"ok": 14}})
    assert "--accept-revision" not in run("status", "map.zarr")[1]
    assert run("run", str(SMOKE), "-o", "map.zarr", "--accept-revision")[0] == 0
    assert store.dataset().attrs["kernel_digest"] == NO_KERNEL
    out, digest = run("status", "map.zarr")[1], kernel_digest(request_.sweep)
    made_by = {tuple(r["chunk"]): r.get("kernel_digest") for r in store.receipts.read()}
    assert made_by == {(0, 0): None, (1, 0): digest, (2, 0): digest}
    assert f"\n  14 points by {NO_KERNEL}, the store's\n  21 points by {digest}\n" in out
    kernels = json.loads(run("status", "map.zarr", "--json")[1])["kernels"]
    assert kernels == {NO_KERNEL: 14, digest: 21}


def test_a_worker_with_other_kernels_refuses_before_it_computes(
    tmp_path: Path, copied_kernels: Path
) -> None:
    """The driver reads an edited copy; its worker processes read the kernels as they are."""
    other = Code.of(load(SMOKE).sweep)
    change_code(copied_kernels)
    own = Code.of(load(SMOKE).sweep)
    options = {"cluster": "local", "workers": 1, "accept_revision": True}
    with pytest.raises(MachineError, match=r"worker 0 \(process \d+ on .+\): its ker") as caught:
        sweep.run(SMOKE, store=tmp_path / "map.zarr", **options)
    message = str(caught.value)
    assert all(text in message for text in (own.kernel, other.kernel, "install the same ver"))
    assert "accept" not in message
    store = Store.open(tmp_path / "map.zarr")
    n_points = store.sweep.n_points
    for accept in (True, False):  # this process in place of a worker
        accepting = RunOptions(backend="cpu", accept_revision=accept)
        job = Job("other", open_backend, accepting, other, n_points)
        with pytest.raises(UnfitError, match=f"is {own.kernel}, and that of the leading process"):
            job(str(store.path), Task((store.pending()[0],)), 1.0)
        forget_run("other")
    assert (store.done(), store.receipts.read()) == ([], [])


def test_receipts_of_workers_name_what_the_run_accepts(tmp_path: Path, request_: Request) -> None:
    store = begun_by_no_kernel(tmp_path / "map.zarr", request_)
    (chunk, *_) = store.pending()
    options = RunOptions(backend="cpu", accept_revision=True)
    job = Job("accepting", open_backend, options, Code.of(request_.sweep), request_.sweep.n_points)
    job(str(store.path), Task((chunk,)), 1.0)
    forget_run("accepting")
    assert [r["kernel_digest"] for r in store.receipts.read()] == [kernel_digest(request_.sweep)]


def test_a_store_of_another_kernel_is_extended_only_if_that_is_accepted(
    tmp_path: Path, request_: Request
) -> None:
    store = begun_by_no_kernel(tmp_path / "map.zarr", request_)
    longer = load(SMOKE, ["base_acceleration={ linspace = [0.5, 29.5, 13] }"])
    with pytest.raises(StoreError, match=CURE):
        Store.extend(store.path, longer.sweep)
    assert main(["extend", str(store.path), str(SMOKE), "--accept-revision"]) == 0
    extended = Store.extend(store.path, longer.sweep, accept_revision=True)
    assert extended.sweep.grid.shape == (5, 13)
    assert extended.made_by.kernel_digest == NO_KERNEL


def refined(path: Path, *, accept: bool = False, **arguments: object) -> None:
    document = tomllib.loads(REFINED.read_text(encoding="utf-8"))
    document["run"] = {"workers": 1, "accept_revision": accept}
    sweep.run(document, store=path, **arguments)  # pyright: ignore[reportArgumentType]


def test_no_point_follows_from_results_of_another_kernel(tmp_path: Path, run: Run) -> None:
    """Although all points that the store has so far are done."""
    path = tmp_path / "map.zarr"
    request = with_points(load(REFINED))
    run_in_store(open_store(request, path), request)
    rename_kernel(path)
    assert Store.open(path).pending() == []
    with pytest.raises(StoreError, match=CURE):
        refined(path)
    refined(path, accept=True)
    store = Store.open(path)
    assert store.made_by.kernel_digest == NO_KERNEL
    assert not store.may_grow
    digest = kernel_digest(store.sweep.points)
    last = {tuple(r["chunk"]): r.get("kernel_digest") for r in store.receipts.read()}
    assert set(last.values()) == {digest}
    assert f"  {store.sweep.n_points} points by {digest}\n" in run("status", "map.zarr")[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda kernels: insert(kernels / HEADER, "/* a comment\nof two lines */ // and one more"),
        lambda kernels: insert(kernels / HEADER, "\n\n \t\n"),
        lambda kernels: move(kernels, HEADER, "models/friction_oscillator/elsewhere.h"),
    ],
    ids=["comment", "white space", "moved"],
)
def test_wording_and_places_are_no_other_kernel(
    copied_kernels: Path, request_: Request, change: Callable[[Path], None]
) -> None:
    before = kernel_digest(request_.sweep)
    change(copied_kernels)
    assert kernel_digest(request_.sweep) == before


def move(kernels: Path, old: str, new: str) -> None:
    (kernels / old).rename(kernels / new)
    names = (Path(old).name, Path(new).name)
    for header in kernels.rglob("*.h"):
        header.write_text(header.read_text().replace(f'{names[0]}"', f'{names[1]}"'))


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (HEADER, "constexpr int one_more = 1;"),
        ("portable.h", "#pragma STDC FP_CONTRACT OFF"),
        ("entry_cpu.h", "constexpr int one_more = 1;"),
        ("entry_gpu.h", "constexpr int one_more = 1;"),
    ],
)
def test_code_is_another_kernel(
    copied_kernels: Path, request_: Request, header: str, line: str
) -> None:
    before = kernel_digest(request_.sweep)
    insert(copied_kernels / header, line)
    assert kernel_digest(request_.sweep) != before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int a = 1 + +b;", "int a = 1 ++b;"),
        ('char const* a = "// b";', 'char const* a = "// c";'),
        ("#define A 1\nA", "#define A 1 A"),
        ("#define A(x) x", "#define A"),
        ("double a = 1e-5;", "double a = 1e-6;"),
    ],
)
def test_no_two_different_codes_have_one_digest(
    copied_kernels: Path, request_: Request, one: str, other: str
) -> None:
    original = (copied_kernels / HEADER).read_text()
    insert(copied_kernels / HEADER, one)
    first = kernel_digest(request_.sweep)
    (copied_kernels / HEADER).write_text(original)
    insert(copied_kernels / HEADER, other)
    assert kernel_digest(request_.sweep) != first

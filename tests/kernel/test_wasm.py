"""Kernels in WebAssembly: the bits of the native kernel, at random points of every method."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ziglang")
pytest.importorskip("wasmtime")

from sweep.errors import CompileError
from sweep.file import load
from sweep.kernel.source import kernel_of
from sweep.kernel.tracer import Tracer
from sweep.kernel.wasm import Module, build, module_bytes, shipped_modules, whole_kernel
from sweep.model.shipped import configs_folder
from sweep.model.table import Status
from sweep.points.chunking import chunks
from sweep.points.columns import points
from tests.cases import Case, bits_of, case_of, methods
from tests.kernel.wasm_host import Host, canonical, computed, traced

QUICK = ("impact_oscillator-exact",)
N = 300
KERNELS = {f"{model.name}-{method.name}": (model, method) for model, method in methods()}


def _modules() -> Iterator[Any]:
    for name in KERNELS:
        for relaxed in (False, True):
            marks = [] if name in QUICK else [pytest.mark.broad]
            yield pytest.param(name, relaxed, marks=marks)


def _module(case: Case, entry: Any, *, relaxed: bool) -> Module:
    """As in a release: all outputs, no variants."""
    return Module(whole_kernel(kernel_of(case.sweep)), entry, relaxed)


def _quick_module(*, relaxed: bool = False) -> Module:
    return _module(case_of(*KERNELS["impact_oscillator-exact"], 1), "cpu", relaxed=relaxed)


def _differing(theirs: Any, ours: Any) -> list[str]:
    return [name for name in theirs if canonical(ours[name]).tobytes() != theirs[name].tobytes()]


@pytest.mark.parametrize(("name", "relaxed"), [*_modules()])
def test_a_module_computes_the_bits_of_the_native_kernel(name: str, relaxed: bool) -> None:
    case = case_of(*KERNELS[name], N, edges=True)
    native_bits = bits_of(case.sweep, case.points)
    assert (native_bits["status"] == Status.ok).mean() > 0.5
    module = _module(case, "cpu", relaxed=relaxed)
    assert _differing(computed(module, case.points), native_bits) == []
    if name in QUICK:
        assert _differing(computed(module, case.points, budget=3), native_bits) == []


@pytest.mark.parametrize(
    ("name", "relaxed"), [each for each in _modules() if KERNELS[each.values[0]][1].traced]
)
def test_a_module_traces_the_bits_of_the_native_kernel(name: str, relaxed: bool) -> None:
    case = case_of(*KERNELS[name], 40)
    kernel = kernel_of(case.sweep)
    status = bits_of(case.sweep, case.points)["status"]
    chosen = int(np.flatnonzero(status == Status.ok)[0])
    columns = {name: column.values for name, column in case.points.columns.items()}
    point = {name: float(v[chosen % len(v)]) for name, v in columns.items()}
    native = Tracer(kernel, point)
    span = native.span()
    times = np.linspace(span.first, span.last, 50)
    seen_natively = native.look(times)
    seen = traced(_module(case, "trace", relaxed=relaxed), point, times)
    assert seen.status == seen_natively.status == Status.ok
    assert np.isfinite(seen.rows).all()
    assert seen.rows.tobytes() == canonical(seen_natively.rows).tobytes()
    if case.sweep.method.items:
        for each in ("items", "places"):
            ours, theirs = getattr(seen, each), getattr(seen_natively, each)
            assert ours.size
            assert ours.tobytes() == theirs.tobytes()


FROM_FILES = {"dop853": ("belt_wear", {"relative_tolerance": 1e-7}),
            "rk4": ("lorenz_peaks", {"step": 0.01}),
            "rodas4": ("lugre_stick_slip", {"relative_tolerance": 1e-6})}  # fmt: skip


@pytest.mark.broad
@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("method", FROM_FILES)
def test_a_module_of_a_model_from_a_file_computes_the_bits_of_the_native_kernel(
    method: str, relaxed: bool
) -> None:
    """Of the methods that no shipped model with a header has, at the points of a small sweep."""
    name, controls = FROM_FILES[method]
    table = tomllib.loads((configs_folder() / "smoke" / f"{name}.toml").read_text("utf-8"))
    table["parameters"].pop("relative_tolerance", None)
    table["parameters"] |= controls
    loaded = load({**table, "method": method}).sweep
    kernel = whole_kernel(kernel_of(loaded))
    sweep = replace(loaded, outputs=kernel.outputs)
    (chunk,) = chunks(sweep.grid.shape, sweep.grid.shape)
    chosen = replace(points(sweep, chunk), variants=())
    native_bits = bits_of(sweep, chosen)
    assert (native_bits["status"] == Status.ok).mean() > 0.5
    assert _differing(computed(Module(kernel, "cpu", relaxed), chosen), native_bits) == []


def test_fma_of_a_module_without_relaxed_simd_is_fused() -> None:
    """Sums of products whose exact value is known and which rounding twice would miss."""
    host = Host(_quick_module())
    small = 2.0**-27
    for scale in (1.0, 2.0**-480, 2.0**480):
        a, c = scale * (1 + small), -scale * scale * (1 + 2 * small)
        assert host.call("tribosweep_fma", a, a, c) == (scale * small) ** 2


def test_fma_beside_a_power_of_two_is_rounded_to_the_denser_side() -> None:
    """Rational arithmetic is the oracle: c less about half a unit in the last place below it."""
    host = Host(_quick_module())
    random, differing = np.random.default_rng(5), 0
    for _ in range(2000):
        c = float(random.choice([-1, 1]) * 2.0 ** random.integers(-900, 900))
        a = float(random.uniform(0.5, 1) * 2.0 ** random.integers(-60, 60))
        b = -c * 2.0**-54 / a * (1 + float(random.integers(-8, 8)) * 2.0 ** -random.integers(1, 52))
        exact = float(Fraction(a) * Fraction(b) + Fraction(c))
        assert host.call("tribosweep_fma", a, b, c) == exact, (a, b, c)
        differing += exact != c
    assert 500 < differing < 1500


def test_a_module_is_found_by_its_text(
    tmp_path: Path, copied_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prebuilt one of another text, of an earlier version perhaps, is not used."""
    module = _quick_module()
    compiled = module_bytes(module)
    monkeypatch.setattr("sweep.kernel.wasm.modules_folder", lambda: tmp_path)
    (tmp_path / module.file_name).write_bytes(b"prebuilt")
    assert module_bytes(module) == b"prebuilt"
    with (copied_kernels / "portable_wasm.h").open("a") as header:
        header.write("// another text\n")
    assert not (tmp_path / module.file_name).exists()
    monkeypatch.undo()
    assert module_bytes(module) == compiled


def test_a_module_compiled_again_has_the_same_bytes(tmp_path: Path) -> None:
    module = _quick_module(relaxed=True)
    build(module, tmp_path / "again.wasm")
    assert (tmp_path / "again.wasm").read_bytes() == module_bytes(module)


def test_without_zig_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ziglang", None)
    with pytest.raises(CompileError, match=r"pip install 'tribosweep\[compiler\]'"):
        module_bytes(_quick_module())


def test_a_release_has_the_modules_of_every_kernel() -> None:
    modules = list(shipped_modules())
    named = {(each.kernel.model.name, each.kernel.method.name, each.entry) for each in modules}
    for model, method in methods():
        assert (model.name, method.name, "cpu") in named
        assert ((model.name, method.name, "trace") in named) == method.traced
    assert all(each.kernel == whole_kernel(each.kernel) for each in modules)
    assert {each.relaxed for each in modules} == {False, True}

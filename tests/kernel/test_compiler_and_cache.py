"""Compilers, the kernel cache and the CPU backend: messages, leftovers, limits."""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sweep
from sweep import api
from sweep.errors import CompileError, MachineError, SweepError
from sweep.file import load
from sweep.kernel import cache
from sweep.kernel.backend import Computed, Stopped
from sweep.kernel.compiler import Compiler, compile_library, compiled_library, find_compiler
from sweep.kernel.cpu import CpuBackend, CpuTarget, Library, request_type
from sweep.kernel.library import SLICE_SECONDS, ColumnStruct, load_library
from sweep.kernel.opening import open_backend
from sweep.kernel.source import flat_text, kernel_of, kernel_text
from sweep.model.table import array_types
from sweep.model.tables import impact_oscillator
from sweep.model.tables.friction_oscillator import MODEL
from sweep.points.columns import points
from sweep.request.chunk import Chunk, Column, Points
from sweep.store import Store
from tests.cases import case_of, compute, differing, sweep_of
from tests.cases.friction_oscillator import random_parameters
from tests.points.test_chunking import linear, sweep_over

ROOT = Path(__file__).resolve().parents[2]
ANSWER = 'extern "C" int answer() { return 42; }\n'
SDND122 = ROOT / "configs" / "smoke" / "sdnd122.toml"
SWEEP = sweep_over(linear("base_acceleration", 1.0, 15.0, 3))
ALL = tuple(output.name for output in MODEL.outputs)
on_posix = pytest.mark.skipif(os.name == "nt", reason="file modes and scripts are of POSIX")


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an empty kernel cache for one test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(folder))
    return folder


def libraries_in(folder: Path) -> set[Path]:
    """The files in a cache, except for the digests, of which each has one."""
    digests = set(folder.glob("*.sha256"))
    files = set(folder.iterdir()) - digests
    assert digests == {file.with_name(f"{file.name}.sha256") for file in files}
    return files


def answer_of(library: Path) -> int:
    return int(ctypes.CDLL(str(library)).answer())


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def without_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIBOSWEEP_CXX", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "ziglang", None)


# Which compiler.


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ("no-such-compiler", "No such file or directory"),
        ("/no/such/g++ -m64", "No such file or directory"),
        ("false", "non-zero exit status 1"),
        ("'g++ never closed", "No such file or directory"),
        ("   ", "No such file or directory"),
    ],
)
@on_posix
def test_a_chosen_compiler_that_does_not_run_is_reported_with_the_cures(
    chosen: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other compiler takes its place: the variable was set for a reason."""
    monkeypatch.setenv("TRIBOSWEEP_CXX", chosen)
    what = f"TRIBOSWEEP_CXX={re.escape(repr(chosen))} does not run"
    gist = rf"{what}.*{why}.*apt install g\+\+.*pip install 'ziglang"
    with pytest.raises(CompileError, match=gist) as caught:
        find_compiler()
    assert caught.value.exit_status == 3


@on_posix
def test_a_chosen_compiler_may_have_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = program(tmp_path / "my g++", 'test "$1" = "--special" && echo "mine 7"')
    monkeypatch.setenv("TRIBOSWEEP_CXX", f"'{chosen}' --special")
    assert find_compiler() == Compiler((str(chosen), "--special"), "mine 7")


def test_its_optimisation_and_processor_replace_the_usual_ones() -> None:
    """And nothing else does: bits depend on the other flags."""
    usual = Compiler(("g++",), "1").flags
    assert {"-O3", "-march=native", "-ffp-contract=off"} < set(usual)
    own = Compiler(("g++", "-O1", "-march=x86-64-v3", "-ffp-contract=fast"), "1").flags
    assert own == tuple(flag for flag in usual if flag not in ("-O3", "-march=native"))


@on_posix
def test_the_first_known_compiler_on_path_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRIBOSWEEP_CXX", raising=False)
    names = ("c++", "clang++", "g++")
    for i, first in enumerate(names):
        folder = tmp_path / first
        folder.mkdir()
        for name in names[: i + 1]:
            program(folder / name, f"echo {name} version 1")
        monkeypatch.setenv("PATH", str(folder))
        assert find_compiler() == Compiler((str(folder / first),), f"{first} version 1")


@on_posix
def test_a_broken_compiler_on_path_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRIBOSWEEP_CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    broken = program(tmp_path / "g++", "exit 4")
    with pytest.raises(CompileError, match=rf"{broken}.* does not run .*4.* Set TRIBOSWEEP_CXX"):
        find_compiler()


def test_without_a_compiler_on_path_the_bundled_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it gives the same bits as the other."""
    case = case_of(impact_oscillator.MODEL, impact_oscillator.NEWMARK, 50)
    expected = CpuBackend().compute(case.sweep, case.points).arrays
    monkeypatch.delenv("TRIBOSWEEP_CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "ziglang" in find_compiler().command
    assert "ziglang" in find_compiler().command
    narrow = CpuBackend(CpuTarget(width=2, pack=1))  # test_bits compiles this target too
    computed = narrow.compute(case.sweep, case.points).arrays
    assert differing(expected, computed) == []


@pytest.mark.usefixtures("kernels")  # compiled kernels need no compiler
def test_without_any_compiler_both_cures_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_compiler(monkeypatch)
    cures = r"no C\+\+ compiler.*apt install g\+\+.*pip install 'ziglang"
    with pytest.raises(CompileError, match=cures):
        open_backend("cpu").prepare(SWEEP)


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(SweepError, match="backend 'tpu' is not one of"):
        open_backend("tpu")


# Compiling.


@on_posix
def test_a_compiler_that_fails_on_kernels_is_quoted(
    tmp_path: Path, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'test "$1" = "--version" && echo "broken 1" && exit 0; echo "no backend" >&2; exit 9'
    chosen = program(tmp_path / "cxx", script)
    monkeypatch.setenv("TRIBOSWEEP_CXX", str(chosen))
    backend = open_backend()
    with pytest.raises(CompileError, match=rf"does not compile: {chosen} -std.*\nno backend"):
        backend.prepare(SWEEP)
    assert list(kernels.iterdir()) == []


@on_posix
def test_a_compiler_that_makes_nothing_is_blamed_instead_of_the_cache(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIBOSWEEP_CXX", "/bin/true")
    with pytest.raises(CompileError, match=r"makes no library: /bin/true -std(.|\n)*Set .*_CXX"):
        compile_library(ANSWER, find_compiler())
    assert list(kernels.iterdir()) == []


def test_the_same_text_is_compiled_once_and_other_texts_separately(kernels: Path) -> None:
    chosen = find_compiler()
    first = compile_library(ANSWER, chosen)
    modified = first.stat().st_mtime_ns
    assert compile_library(ANSWER, chosen) == first
    assert first.stat().st_mtime_ns == modified
    assert first.parent == kernels  # TRIBOSWEEP_CACHE_DIR
    assert kernels.stat().st_mode & 0o077 == 0 or os.name == "nt"
    others = [
        compile_library(ANSWER.replace("42", "43"), chosen),
        compile_library(ANSWER, chosen, ["-DSWEEP_WIDTH=2"]),
        compile_library(ANSWER, dataclasses.replace(chosen, version="another")),
    ]
    assert len({first, *others}) == 4
    assert [answer_of(library) for library in (first, *others)] == [42, 43, 42, 42]
    assert libraries_in(kernels) == {first, *others}


RACER = """
import sys, time
from pathlib import Path
from sweep.kernel.compiler import compile_library, find_compiler
compiler = find_compiler()
print("ready", flush=True)
sys.stdin.readline()
print(compile_library(sys.argv[1], compiler))
"""


def race(text: str, processes: int) -> list[str]:
    """Compile a text in several processes at once and return the paths that they print."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, text],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(processes)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    outputs = [racer.communicate() for racer in racers]
    assert not any(racer.returncode for racer in racers), outputs
    return [out.strip() for out, _ in outputs]


@on_posix
def test_processes_that_need_the_same_kernel_compile_it_once(
    tmp_path: Path, kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    real = find_compiler().command[0]
    script = (
        f'test "$1" = "--version" || {{ echo compiled >> {log}; sleep 0.2; }}; exec {real} "$@"'
    )
    monkeypatch.setenv("TRIBOSWEEP_CXX", str(program(tmp_path / "cxx", script)))
    paths = race(ANSWER, processes=4)
    assert log.read_text() == "compiled\n"
    (library,) = libraries_in(kernels)  # and no scratch file
    assert paths == [str(library)] * 4
    assert answer_of(library) == 42


def test_threads_that_need_the_same_kernel_all_get_it(kernels: Path) -> None:
    text, chosen, start = ANSWER.replace("42", "44"), find_compiler(), threading.Barrier(6)

    def race(_: int) -> Path:
        start.wait()
        return compile_library(text, chosen)

    with ThreadPoolExecutor(6) as pool:
        libraries = list(pool.map(race, range(6)))
    (library,) = libraries_in(kernels)
    assert libraries == [library] * 6


def test_a_file_appears_in_the_cache_complete(kernels: Path) -> None:
    """Checked all the time while it is put there: another process may load it at any moment."""
    content = bytes(range(256)) * 2**17  # 32 MB
    sizes: set[int] = set()
    put = threading.Event()

    def look() -> None:
        while not put.is_set():
            if (kernels / "big.so").exists():
                sizes.add((kernels / "big.so").stat().st_size)

    looking = threading.Thread(target=look)
    looking.start()
    cache.cached("big.so", lambda path: path.write_bytes(content) and None)
    put.set()
    looking.join()
    assert sizes <= {len(content)}
    assert (kernels / "big.so").read_bytes() == content


# The kernel cache.


@on_posix
@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_cache_that_others_can_write_is_refused(kernels: Path, mode: int) -> None:
    kernels.mkdir()
    kernels.chmod(mode)
    with pytest.raises(MachineError, match=r"can be written by others.*chmod 700.*CACHE_DIR"):
        compile_library(ANSWER, find_compiler())
    assert list(kernels.iterdir()) == []


@on_posix
def test_a_cache_of_another_user_is_refused(kernels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(kernels, 12345, -1)
    else:
        monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", "/")  # of root
    with pytest.raises(MachineError, match="can be written by others"):
        cache.cache_folder()


@on_posix
@pytest.mark.parametrize("plant", ["another user's", "writable by the group", "a link"])
def test_a_library_that_others_could_have_written_is_compiled_anew(
    kernels: Path, tmp_path: Path, plant: str
) -> None:
    """Planted while the folder was open to others, before the advised `chmod 700`."""
    chosen = find_compiler()
    library = compile_library(ANSWER, chosen)
    planted = compile_library(ANSWER.replace("42", "666"), chosen).rename(tmp_path / "planted.so")
    library.unlink()
    if plant == "a link":
        library.symlink_to(planted)
    else:
        shutil.copy(planted, library)
        library.chmod(0o770)
    digest = hashlib.sha256(library.name.encode() + planted.read_bytes()).hexdigest()
    library.with_name(f"{library.name}.sha256").write_text(digest)
    if plant == "another user's":
        if os.geteuid() != 0:
            # The other two plants need no privilege.
            pytest.skip("only root can give a file to another user")
        library.chmod(0o700)
        os.chown(library, 12345, -1)
    assert compiled_library(ANSWER) is None
    assert answer_of(compile_library(ANSWER, chosen)) == 42
    assert compiled_library(ANSWER) == library
    state = library.lstat()
    assert (state.st_uid, state.st_mode & 0o777) == (os.getuid(), 0o700)


def _cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def _flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _empty(file: Path) -> None:
    os.truncate(file, 0)


def _replace_by_another(file: Path) -> None:
    """Together with its digest, as if the folder had been sorted by hand."""
    other = compile_library(ANSWER, find_compiler())
    for path in (other, other.with_name(f"{other.name}.sha256")):
        shutil.copy(path, file.with_name(path.name.replace(other.name, file.name)))


def _lose_the_digest(file: Path) -> None:
    """As versions that wrote none have left it."""
    file.with_name(f"{file.name}.sha256").unlink()


def _spoil_the_digest(file: Path) -> None:
    file.with_name(f"{file.name}.sha256").write_bytes(b"\xff")


DAMAGES = (_cut, _flip_a_bit, _empty, _replace_by_another, _lose_the_digest, _spoil_the_digest)


@on_posix
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_library_is_compiled_anew(
    kernels: Path, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a compiler; without one the error says what to do. Loading it kills the process."""
    exact = case_of(impact_oscillator.MODEL, impact_oscillator.EXACT, 5)
    quick = CpuTarget(width=1, pack=1)
    text, chosen = kernel_text(kernel_of(exact.sweep)), find_compiler()
    library = compile_library(text, chosen, quick.flags)
    whole = library.read_bytes()
    damage(library)
    with pytest.MonkeyPatch.context() as patch:
        without_compiler(patch)
        with pytest.raises(CompileError, match="sweep compile"):
            CpuBackend(quick).compute(exact.sweep, exact.points)
    arrays = CpuBackend(quick).compute(exact.sweep, exact.points).arrays
    assert (arrays["status"] == 0).any()
    assert library.read_bytes() == whole
    without_compiler(monkeypatch)
    again = CpuBackend(quick).compute(exact.sweep, exact.points).arrays
    assert differing(arrays, again) == []


@pytest.mark.parametrize("damage", [_cut, _flip_a_bit, _empty])
def test_whatever_the_cache_keeps_is_checked(kernels: Path, damage: Callable[[Path], None]) -> None:
    """Modules of explorers, for example."""
    content = bytes(range(256))

    def make(path: Path) -> None:
        path.write_bytes(content)

    module = cache.cached("a.wasm", make)
    damage(module)
    assert cache.cached("a.wasm", make).read_bytes() == content
    assert {path.name for path in kernels.iterdir()} == {"a.wasm", "a.wasm.sha256"}


@on_posix
def test_an_unusable_cache_folder_names_the_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(MachineError, match=r"cannot keep compiled kernels in '.*/file/cache'.*set"):
        cache.cache_folder()
    read_only = _read_only_folder(tmp_path)
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(read_only))
    with pytest.raises(MachineError, match=rf"cannot keep compiled kernels in '{read_only}'.*set"):
        compile_library(ANSWER, find_compiler())


def _read_only_folder(tmp_path: Path) -> Path:
    """A folder of this user that cannot be written; for root, /proc."""
    if os.geteuid() == 0:
        return Path("/proc")
    folder = tmp_path / "read_only"
    folder.mkdir(mode=0o500)
    return folder


@on_posix
def test_a_read_only_cache_with_the_kernel_is_sufficient(kernels: Path, tmp_path: Path) -> None:
    """As on nodes without a compiler, after a login node has filled the cache."""
    own = program(
        tmp_path / "c++", 'for word; do [ "$last" = -o ] && touch $word; last=$word; done'
    )
    compiler = Compiler((str(own),), "own 1")
    library = compile_library(ANSWER, compiler)
    kernels.chmod(0o500)
    own.unlink()
    assert compile_library(ANSWER, compiler) == library
    kernels.chmod(0o700)


@on_posix
def test_the_cache_follows_xdg_unless_the_variable_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", "")
    assert cache.cache_folder() == tmp_path / "xdg" / "tribosweep"
    monkeypatch.setenv("TRIBOSWEEP_CACHE_DIR", str(tmp_path / "mine"))
    assert cache.cache_folder() == tmp_path / "mine"
    assert {p.name for p in tmp_path.iterdir()} == {"xdg", "mine"}


def test_a_library_that_cannot_be_loaded_is_a_machine_error_naming_the_file(tmp_path: Path) -> None:
    """For example in a folder from which nothing may be run."""
    library = tmp_path / "kernel.so"
    library.write_bytes(b"MZ" + bytes(1000))
    with pytest.raises(MachineError, match=rf"{library}' cannot be loaded .*TRIBOSWEEP_CACHE_DIR"):
        load_library(library)


# The CPU backend.


def test_results_come_from_the_text_whose_digest_they_carry(copied_kernels: Path) -> None:
    """Before and after an edit of a header, in one process."""
    before = sweep.run(SDND122, store=None, workers=1)
    header = copied_kernels / "models/impact_oscillator/exact.h"
    text = header.read_text()
    header.write_text(text.replace("out.frequency = 1.0 /", "out.frequency = 2.0 /"))
    after = sweep.run(SDND122, store=None, workers=1)
    assert after.attrs["kernel_digest"] != before.attrs["kernel_digest"]
    np.testing.assert_array_equal(after["frequency"], 2 * before["frequency"])
    header.write_text(text)
    again = sweep.run(SDND122, store=None, workers=1)
    assert again.identical(before)


def test_an_edit_during_a_run_ends_it_before_another_variant_is_compiled(
    tmp_path: Path, copied_kernels: Path
) -> None:
    """Without shaking, the first row of the map has a kernel of its own."""
    header = copied_kernels / "models/friction_oscillator/scaled.h"
    document = {
        "model": "friction_oscillator",
        "parameters": {
            "mass": 1.0, "friction": 0.1, "gravity": 10.0, "angular_frequency": 6.0,
            "window_start": 0.0, "window_end": 2.0, "base_acceleration": 15.0,
        },
        "axes": {"vertical_acceleration": {"values": [0.0, 1.0, 2.0]}},
    }  # fmt: skip

    class Edited(CpuBackend):
        def compute(self, *arguments: Any) -> Computed:
            computed = super().compute(*arguments)
            header.write_text(header.read_text() + "constexpr int one_more = 1;\n")
            return computed

    path = tmp_path / "map.zarr"
    request = api.with_options(load(document), chunk_points=1, workers=1)
    with pytest.raises(SweepError, match=r"was edited during this run.*accept_revision"):
        api.compute(request, path, open_backend=lambda _: Edited())
    assert len(Store.open(path).done()) == 1


@pytest.mark.parametrize("budget", [1, 2, 1000])
def test_nothing_is_written_beyond_the_last_point(budget: int) -> None:
    """The ends of arrays that are longer than the points keep their values."""
    cases = random_parameters(37, seed=9)
    chosen = sweep_of(cases)
    columns = {p.name: Column(np.asarray(cases[p.name], np.float64)) for p in chosen.parameters}
    types = array_types(chosen.outputs)
    arrays = {name: np.full(64, 77, dtype) for name, dtype in types.items()}
    library = CpuBackend().library(kernel_of(chosen))
    library.run(Points(n_points=37, columns=columns), arrays, None, budget)
    for name, values in compute(cases).items():
        assert arrays[name][:37].tobytes() == values.tobytes()
        assert np.all(arrays[name][37:] == 77)


# The smallest kernel with which the entry compiles.
MINIMAL_KERNEL = """
struct Parameters {};
struct Outputs { real status; };
constexpr int n_columns = %d;
constexpr int n_outputs = %d;
template <class Points> HD Parameters gather_parameters(Points const&) { return {}; }
template <class Points> HD void scatter_outputs(Points const&, Outputs const&) {}
namespace method {
struct State {};
HD State start(Parameters const&) { return {}; }
HD int64 advance(State&, Parameters const&, int64) { return 1; }
HD bool running(State const&) { return false; }
HD Outputs finish(State const&, Parameters const&) { return {0.0}; }
}  // namespace method
"""


@pytest.mark.parametrize(("n_columns", "n_outputs"), [(1, 1), (11, 3), (13, 7)])
def test_the_structs_have_the_same_layout_in_python_and_cpp(n_columns: int, n_outputs: int) -> None:
    """The size and every offset, checked by the compiler."""
    text = flat_text("portable.h") + MINIMAL_KERNEL % (n_columns, n_outputs)
    text += flat_text("entry_cpu.h")
    for struct, name in ((request_type(n_columns, n_outputs), "Request"), (ColumnStruct, "Column")):
        text += f"static_assert(sizeof({name}) == {ctypes.sizeof(struct)});\n"
        for field, *_ in struct._fields_:
            offset = getattr(struct, field).offset
            text += f"static_assert(__builtin_offsetof({name}, {field}) == {offset});\n"
    assert _messages(text) == ""
    assert "static assertion failed" in _messages(text.replace("sizeof(Request) ==", "7 =="))


def _messages(text: str) -> str:
    chosen = find_compiler()
    flags = [flag for flag in chosen.flags if flag not in ("-shared", "-O3")]
    command = [*chosen.command, *flags, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True).stderr


def test_a_library_of_another_layout_is_refused() -> None:
    kernel = kernel_of(case_of(impact_oscillator.MODEL, impact_oscillator.EXACT, 2).sweep)
    backend = CpuBackend()
    backend.library(kernel)
    longer = dataclasses.replace(kernel, outputs=(*kernel.outputs, kernel.outputs[0]))
    path = compile_library(kernel_text(kernel), backend._compiler)
    with pytest.raises(CompileError, match=r"cpu\.py differ in layout"):
        Library(load_library(path), longer)


def test_a_stop_before_the_first_slice_computes_nothing() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        CpuBackend().compute(SWEEP, points(SWEEP, Chunk((0,), (0,), (3,))), stop)


def test_no_call_of_a_kernel_takes_much_longer_than_a_slice() -> None:
    """From the first call on, at a point that takes minutes: a stop waits for the call."""
    endless = sweep_over(outputs=ALL, stiffness=40.0, window_end=1e7)
    endless_points = dataclasses.replace(points(endless, Chunk((), (), ())), variants=())
    kernel, stop = kernel_of(endless, endless_points.variants), threading.Event()
    path = compile_library(kernel_text(kernel), find_compiler(), CpuTarget(pack=1).flags)
    loaded = load_library(path)
    durations: list[float] = []

    def timed(request: Any) -> None:
        began = time.perf_counter()
        loaded.tribosweep_run(request)
        durations.append(time.perf_counter() - began)

    sizes = ("tribosweep_state_bytes", "tribosweep_lanes", "tribosweep_request_bytes")
    entries: Any = SimpleNamespace(**{name: getattr(loaded, name) for name in sizes})
    entries.tribosweep_run = timed
    arrays = {name: np.empty(1, dtype) for name, dtype in array_types(endless.outputs).items()}
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with pytest.raises(Stopped):
        Library(entries, kernel).run(endless_points, arrays, stop, None)
    timer.join()
    assert max(durations) < 6 * SLICE_SECONDS
    assert len(durations) < 100  # nor is it much shorter: each call has a cost


def test_a_backend_describes_processor_and_compiler() -> None:
    backend = open_backend("cpu")
    assert backend.name == "cpu"
    assert find_compiler().version in backend.description
    assert open_backend("auto").description == backend.description


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_a_backend_is_safe_in_many_threads() -> None:
    """Eight threads use the same library at once, each with its own points."""
    cases = [random_parameters(40, seed) for seed in range(8)]
    expected = [compute(case) for case in cases]
    start = threading.Barrier(8)

    def differing_ones(i: int) -> list[str]:
        start.wait()
        return [
            name for _ in range(20) for name in differing(expected[i], compute(cases[i], budget=3))
        ]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(differing_ones, range(8))) == [[]] * 8

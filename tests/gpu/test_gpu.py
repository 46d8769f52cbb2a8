"""The GPU backend without a GPU: its text runs on the processor; every kind of failure.

The stand-in device of twin.py replaces CUDA. Batches, budgets, memory and requests are those of the
backend, and the results are compared with the CPU backend bit for bit.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sweep.errors import CompileError, DeviceError, LostDeviceError, MachineError
from sweep.kernel import batches, device, sorting
from sweep.kernel.backend import Stopped
from sweep.kernel.compiler import compile_library, find_compiler
from sweep.kernel.gpu import GpuBackend, check_sizes
from sweep.kernel.library import ColumnStruct
from sweep.kernel.opening import open_backend
from sweep.kernel.source import flat_text, kernel_of
from sweep.points.columns import points
from sweep.request.chunk import Chunk
from sweep.request.sweeps import Axis
from tests.cases import Case, bits_of, cases, differing, sweep_of
from tests.command import environment, fresh_sweep_command
from tests.gpu.twin import PRELUDE, TwinDevice, TwinMemory, twin_text

ROOT = Path(__file__).resolve().parents[2]
CASES = {case.name: case for case in cases()}
FEW = (  # one of each kind of kernel
    "friction_oscillator-exact",
    "friction_oscillator-rk32",
    "impact_oscillator-newmark",
    "mdr_contact-time_stepping_2",
)
few_cases = pytest.mark.parametrize("name", FEW)
every_case = pytest.mark.parametrize(
    "name", [name if name in FEW else pytest.param(name, marks=pytest.mark.broad) for name in CASES]
)


def on_twin(case: Case, twin: TwinDevice, budget: int | None = None) -> dict[str, Any]:
    return dict(GpuBackend(twin, budget).compute(case.sweep, case.points).arrays)


def on_cpu(case: Case) -> dict[str, Any]:
    return bits_of(case.sweep, case.points)


# The bits.


@every_case
def test_the_gpu_text_gives_the_bits_of_the_cpu(name: str) -> None:
    expected, twin = on_cpu(CASES[name]), TwinDevice()
    assert differing(expected, on_twin(CASES[name], twin)) == []
    assert np.count_nonzero(expected["status"] == 0) > len(expected["status"]) / 2
    assert twin.used == 0
    assert twin.open == 0


@pytest.mark.parametrize("budget", [1, 7])
@few_cases
def test_the_bits_do_not_depend_on_the_budget(name: str, budget: int) -> None:
    twin = TwinDevice()
    assert differing(on_cpu(CASES[name]), on_twin(CASES[name], twin, budget)) == []
    assert len(twin.launches) > 3


@few_cases
def test_the_bits_do_not_depend_on_batches(name: str) -> None:
    """With so little memory that a batch has a few points, or one point and some of its items."""
    expected = on_cpu(CASES[name])
    for memory in (40_000, 4_000):
        twin = TwinDevice(memory)
        assert differing(expected, on_twin(CASES[name], twin)) == []
        threads = [n for entry, n in twin.launches if entry == "tribosweep_run"]
        assert len(threads) > 200 * 50 / memory
        # A point and a group of items are the least that is computed at once.
        assert twin.most_used < memory + 20_000


def test_the_columns_of_a_grid_are_read_correctly() -> None:
    """In batches that begin anywhere, with the repeats and counts of `points`."""
    constants = {"mass": 1.0, "gravity": 10.0, "angular_frequency": 6.0}
    constants |= {"window_start": 1.0, "window_end": 3.0}
    sweep = sweep_of({**constants, "friction": 0.1, "base_acceleration": 1.0})
    friction = Axis("friction", {"friction": np.linspace(0.01, 1.0, 13)}, {})
    base = Axis("base_acceleration", {"base_acceleration": np.linspace(0.5, 15.0, 11)}, {})
    constants = {p.name: float(p.default or 0.0) for p in sweep.parameters} | constants
    sweep = replace(sweep, constants=constants, axes=(friction, base))
    grid_points = points(sweep, Chunk((0, 0), (2, 0), (10, 11)))
    case = Case("grid", sweep, grid_points)
    assert differing(on_cpu(case), on_twin(case, TwinDevice(9_000))) == []


def test_float32_is_rounded_on_the_device() -> None:
    """To the bits of a CPU, where there is no value too, and half as much is copied."""
    n_missing = 0
    for name in FEW:
        case, twins = CASES[name], [TwinDevice(memory=20_000) for _ in range(2)]
        single = replace(case, sweep=replace(case.sweep, dtype="float32"))
        arrays, _ = (on_twin(each, twin) for each, twin in zip((single, case), twins, strict=True))
        expected = on_cpu(case)
        n_real = 0
        for output, values in expected.items():
            kept = values
            if values.dtype == np.float64:
                kept, n_real = values.astype(np.float32), n_real + 1
                n_missing += np.count_nonzero(np.isnan(values))
            assert (arrays[output].dtype, arrays[output].tobytes()) == (kept.dtype, kept.tobytes())
        n_launches, n_more = (sum(e.endswith("run") for e, _ in t.launches) for t in twins)
        saved = 4 * n_real * case.points.n_points
        assert twins[1].sent - twins[0].sent == saved + n_more - n_launches  # a flag each
    assert n_missing


def test_doubles_are_rounded_as_by_the_cpu() -> None:
    """Every kind of float32 and the doubles between and next to them, by their bits."""
    random = np.random.default_rng(1)
    singles = random.integers(0, 1 << 32, 50_000, dtype=np.uint32).view(np.float32)
    edges = np.array([0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, 0x7F800000], np.uint32)
    ends = np.concatenate([singles, edges.view(np.float32), -edges.view(np.float32)])
    with np.errstate(all="ignore"):
        exact = ends.astype(np.float64)
        middles = 0.5 * exact + 0.5 * np.nextafter(ends, np.float32(np.inf)).astype(np.float64)
        sides = [np.nextafter(middles, end) for end in (-np.inf, np.inf)]
        random_bits = random.integers(0, 1 << 63, 50_000, dtype=np.int64).view(np.float64)
        small = [2.0**-149, 2.0**-150, 2.0**-151, 1.5 * 2.0**-150, 5e-324, 3.5e38, 1e308, -np.inf]
        values = np.concatenate([exact, middles, *sides, random_bits, -random_bits, small])
        expected = np.where(np.isnan(values), np.float32(np.nan), values.astype(np.float32))
    device = TwinDevice()
    doubles, floats = device.upload(values), device.empty(4 * values.size)
    request = device.upload(np.array([doubles.address, floats.address, values.size], np.int64))
    entries = device.entry(flat_text("rounding_gpu.h"), "round")
    device.launch(entries, "tribosweep_round", request, values.size)
    rounded = device.array(floats, values.size, np.uint32).get()
    np.testing.assert_array_equal(rounded, expected.view(np.uint32))


# Memory.


@few_cases
def test_batches_are_halved_if_memory_runs_out(name: str) -> None:
    """And the next chunk begins with the smaller batches."""
    case = CASES[name]
    twin = TwinDevice(memory=1 << 24, bound=30_000)
    backend = GpuBackend(twin)
    expected = on_cpu(case)
    outputs = dict(backend.compute(case.sweep, case.points).arrays)
    assert differing(expected, outputs) == []
    assert twin.refused > 0
    assert twin.used == 0
    refused = twin.refused
    assert differing(expected, dict(backend.compute(case.sweep, case.points).arrays)) == []
    assert twin.refused == refused


@few_cases
def test_if_not_even_one_point_fits_the_error_has_a_cure(name: str) -> None:
    twin = TwinDevice(bound=300)
    with pytest.raises(
        MachineError, match=r"too little memory for a single point .*use backend cpu"
    ):
        on_twin(CASES[name], twin)
    assert twin.used == 0
    assert twin.open == 0


class Late(TwinDevice):
    """A device that performs copies only when it is waited for."""

    def __init__(self, bound: int | None = None) -> None:
        super().__init__(bound=bound)
        self.pending: list[weakref.ref[TwinMemory]] = []
        self.freed_early = 0  # pieces of memory freed before their copy

    def upload(self, *parts: NDArray[Any]) -> TwinMemory:
        memory = super().upload(*parts)
        self.pending.append(weakref.ref(memory))
        return memory

    def launch(self, *arguments: Any) -> float:
        self.wait()
        return super().launch(*arguments)

    def wait(self) -> None:
        self.freed_early += sum(memory() is None for memory in self.pending)
        self.pending.clear()


@few_cases
def test_what_a_copy_reads_lives_until_it_is_done(name: str) -> None:
    """Also where a batch ends before it has begun, in want of memory or because of a stop."""
    case, twin, stop = CASES[name], Late(bound=30_000), threading.Event()
    assert differing(on_cpu(case), on_twin(case, twin)) == []
    assert twin.refused > 0
    stop.set()
    with pytest.raises(Stopped):
        GpuBackend(twin).compute(case.sweep, case.points, stop)
    twin.wait()
    assert twin.freed_early == 0


# Stops, and the duration of launches.


@few_cases
def test_a_stop_takes_effect_between_launches(name: str) -> None:
    case, stop = CASES[name], threading.Event()

    class Stopping(TwinDevice):
        def launch(self, *arguments: Any) -> float:
            if len(self.launches) == 2:
                stop.set()
            return super().launch(*arguments)

    twin = Stopping()
    with pytest.raises(Stopped):
        GpuBackend(twin, budget=1).compute(case.sweep, case.points, stop)
    assert len(twin.launches) == 3
    assert twin.used == 0
    assert twin.open == 0


AT_ONCE = 2**18  # threads of a GPU: 128 multiprocessors
MOST = batches.LAUNCH_SECONDS


def seconds_of(units: int, threads: int, cost: float, busy_with: float = AT_ONCE) -> float:
    """Duration of a launch: threads that are too few to keep the device busy wait for results."""
    return units * max(threads, busy_with) * cost


@pytest.mark.parametrize("threads", [1, 1000, AT_ONCE, batches.MAX_THREADS])
@pytest.mark.parametrize("cost", [1e-14, 1e-11, 5e-8])
def test_a_budget_grows_only_while_a_launch_stays_short(threads: int, cost: float) -> None:
    pace = batches.Pace(AT_ONCE)
    for _ in range(3):  # batches
        units = pace.first(threads)
        for _ in range(40):
            seconds = seconds_of(units, threads, cost)
            assert seconds <= MOST or units == 1
            units = pace.next(units, threads, seconds)
        assert seconds_of(units, threads, cost) > MOST / 5 or units == 1 << 60


def test_no_launch_takes_half_a_second_after_any_others() -> None:
    """Batches of any size, points that take any number of units, units whose costs differ by four.

    What was learnt from cheap units, or from few threads, makes no later launch too long. A device
    may be busy with one warp per scheduler, or only with as many as fit.
    """
    assert 2 * MOST <= 0.5
    numbers = np.random.default_rng(5)
    for _ in range(200):
        pace = batches.Pace(AT_ONCE)
        cost = 10 ** numbers.uniform(-14, -8.5)
        busy_with = AT_ONCE / 2 ** numbers.uniform(0, 4)
        launches = 0
        for _ in range(20):
            threads = busy = int(2 ** numbers.uniform(0, np.log2(batches.MAX_THREADS)))
            need = int(10 ** numbers.uniform(0, 6))  # units of its longest point
            each = cost * numbers.uniform(1.0, 4.0)
            units = pace.first(threads)
            while need > 0:
                done = min(units, need)
                seconds = seconds_of(done, busy, each, busy_with)
                assert seconds <= 0.5
                busy = max(int(busy * numbers.uniform()), 1)
                need -= done
                launches += 1
                units = pace.next(units, threads, seconds)
        assert launches < 20 * (11 + 1e6 * 4 * cost * batches.MAX_THREADS / MOST)


def test_points_are_sorted_where_that_is_worth_while() -> None:
    pace = batches.Pace(AT_ONCE)
    assert pace.sorts
    pace.learn(batches.MANY_POINTS - 1, 1e-9, are_sorted=True)  # too few to show
    assert pace.sorts
    pace.learn(2**23, 2**23 * 3e-9, are_sorted=True)
    assert pace.sorts  # points take long, so that they are not even tried as they come
    pace.learn(2**23, 2**23 * 5e-10, are_sorted=True)
    assert not pace.sorts
    pace.learn(2**23, 2**23 * 8e-10, are_sorted=False)
    assert not pace.sorts  # the sort would take longer than it gains
    pace.learn(2**23, 2**23 * 2e-9, are_sorted=False)  # disturbed by what ran beside it
    assert not pace.sorts
    pace.learn(2**23, 2**23 * 3e-10, are_sorted=True)
    assert pace.sorts


def test_points_that_take_less_time_than_their_sort_are_computed_as_they_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case, sizes = CASES["friction_oscillator-exact"], list[int]()
    order = sorting.Sorting.order_on_device

    def counted(self: sorting.Sorting, *arguments: Any) -> Any:
        sizes.append(arguments[-1])
        return order(self, *arguments)

    monkeypatch.setattr(sorting.Sorting, "order_on_device", counted)
    for name, value in {"MANY_POINTS": 1, "LITTLE": 1.0, "SORT_SECONDS": 1.0}.items():
        monkeypatch.setattr(batches, name, value)
    backend, expected = GpuBackend(TwinDevice()), on_cpu(case)
    for _ in range(3):
        result = dict(backend.compute(case.sweep, case.points).arrays)
        assert differing(expected, result) == []
    assert sum(sizes) == case.points.n_points  # in the first call alone


def test_a_batch_begins_with_the_units_that_others_reached() -> None:
    """Otherwise every chunk would need a dozen launches to reach its pace."""
    pace = batches.Pace(AT_ONCE)
    units = pace.first(2**20)
    assert units == 0
    units = pace.next(units, 2**20, 0.0)
    assert units == 1
    units = pace.next(units, 2**20, seconds_of(units, 2**20, 1e-11))
    assert units == batches.GROWTH
    assert pace.next(units, 2**20, seconds_of(units, 2**20, 1e-11)) == 11776  # half a launch
    assert pace.first(2**20) == 256
    assert pace.first(2**22) == 256
    assert pace.first(1) == 256  # few threads take as long as many
    assert pace.next(1000, 2**20, 10 * MOST) == 100
    assert pace.next(1, 2**20, 1e9) == 1
    assert pace.first(2**20) == 1


def test_what_an_empty_launch_takes_is_no_cost_of_units() -> None:
    """Starting a million points and saving their states takes 1.1 ms, one Euler step 1.2 µs."""
    pace, threads, empty, need = batches.Pace(AT_ONCE), 2**20, 1.1e-3, 20_000
    counts = []
    for _ in range(2):  # batches
        units, done, launches = pace.first(threads), 0, 0
        while done < need:
            done += units
            launches += 1
            units = pace.next(units, threads, empty + seconds_of(units, threads, 1.2e-12))
        counts.append(launches)
    assert counts == [5, 1]
    assert pace.first(threads) * 1.2e-6 < MOST


def test_a_launch_has_a_largest_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_THREADS", 64)
    for name in FEW:
        twin = TwinDevice()
        assert differing(on_cpu(CASES[name]), on_twin(CASES[name], twin)) == []
        assert max(n for entry, n in twin.launches if entry == "tribosweep_run") == 64


# Faults of the device.


class Faulty(TwinDevice):
    """A device whose launches fail from the fourth on; `lost`: for good."""

    def __init__(self, lost: bool) -> None:
        super().__init__()
        self.lost = lost

    def answers(self) -> bool:
        return not self.lost

    def launch(self, *arguments: Any) -> float:
        if len(self.launches) >= 3:
            raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")
        return super().launch(*arguments)


@few_cases
@pytest.mark.parametrize("lost", [True, False])
def test_a_fault_that_loses_the_device_ends_the_run(name: str, lost: bool) -> None:
    """All later chunks would fail; any other fault costs one chunk."""
    twin = Faulty(lost)
    expected = r"GPU is lost .*IllegalAddress.*Use backend cpu if" if lost else "^cudaErrorIllegal"
    with pytest.raises(LostDeviceError if lost else RuntimeError, match=expected):
        GpuBackend(twin, budget=1).compute(CASES[name].sweep, CASES[name].points)
    assert twin.used == 0
    assert twin.open == 0


class Overtime(TwinDevice):
    """A device that runs a kernel once more after its points are done, on patterned outputs."""

    PATTERN = 0x77

    def __init__(self) -> None:
        super().__init__()
        self.rewritten: list[bool] = []  # by batch: whether the extra run wrote outputs
        self._pieces: weakref.WeakSet[TwinMemory] = weakref.WeakSet()
        self._last: tuple[Any, TwinMemory, int] | None = None  # the last launch

    def empty(self, n_bytes: int) -> TwinMemory:
        memory = super().empty(n_bytes)
        self._pieces.add(memory)
        return memory

    def launch(self, program: Any, entry: str, argument: Any, threads: int) -> float:
        self._last = program, argument, threads
        return super().launch(program, entry, argument, threads)

    def download(self, memory: Any, into: NDArray[Any]) -> None:
        super().download(memory, into)
        if into.nbytes == 1 and not into.any():  # the flag of unfinished points
            self._run_again()

    def _run_again(self) -> None:
        assert self._last is not None
        program, argument, threads = self._last
        kernel = program.kernel
        layout = device.request_type(len(kernel.parameters), len(kernel.outputs))
        request = layout.from_buffer(argument.bytes)
        addresses = {request.status, *request.outputs}
        outputs = {
            piece: piece.bytes.copy() for piece in self._pieces if piece.address in addresses
        }
        for piece in outputs:
            piece.bytes[:] = self.PATTERN
        program.start("tribosweep_run", argument.address, threads)
        self.rewritten.append(any((piece.bytes != self.PATTERN).any() for piece in outputs))
        for piece, before in outputs.items():
            piece.bytes[:] = before


def test_points_that_are_done_are_left_alone_by_later_launches() -> None:
    case, twin = CASES["friction_oscillator-exact"], Overtime()
    assert differing(on_cpu(case), on_twin(case, twin, budget=7)) == []
    assert twin.rewritten == [False]


# The layout of a request.


def test_a_request_has_the_layout_of_the_text() -> None:
    """Every offset and size, from the compiled struct."""
    kernel = kernel_of(CASES["mdr_contact-time_stepping"].sweep)
    twin = device.request_type(len(kernel.parameters), len(kernel.outputs))
    fields = [field for field, _ in twin._fields_]
    places = ", ".join(f"__builtin_offsetof(Request, {field})" for field in fields)
    sizes = ", ".join(f"sizeof(Request::{field})" for field in fields)
    text = (
        twin_text(kernel)
        + f"""
    extern "C" void places(long long* out) {{
        long long const all[] = {{{places}, {sizes}, sizeof(Request), sizeof(Column)}};
        for (long long value : all) *out++ = value;
    }}"""
    )
    library = ctypes.CDLL(str(compile_library(text, find_compiler())))
    layout = (ctypes.c_longlong * (2 * len(fields) + 2))()
    library.places(layout)
    ours = [getattr(twin, field) for field in fields]
    expected = [place.offset for place in ours] + [place.size for place in ours]
    assert list(layout) == [*expected, ctypes.sizeof(twin), ctypes.sizeof(ColumnStruct)]


def test_a_text_with_another_layout_is_refused() -> None:
    kernel = kernel_of(CASES["friction_oscillator-exact"].sweep)
    size = ctypes.sizeof(device.request_type(len(kernel.parameters), len(kernel.outputs)))
    check_sizes(device.Sizes(8, size, 1, 0), kernel)
    with pytest.raises(CompileError, match="differ in layout"):
        check_sizes(device.Sizes(8, size + 8, 1, 0), kernel)


def test_a_call_of_the_cuda_library_does_not_compile_here() -> None:
    """On a GPU it would be chosen over our function of that name; here it is deleted."""
    ours = PRELUDE + 'extern "C" double f(double x) { return fma(x, x, sqrt(x)); }\n'
    assert compile_library(ours, find_compiler()).exists()
    for call in ("exp(x)", "pow(x, 2.0)", "fmin(x, 1.0)"):
        with pytest.raises(CompileError, match="deleted"):
            compile_library(ours + f"double g(double x) {{ return {call}; }}\n", find_compiler())


# No GPU, or none that answers.

# A stand-in for CuPy 14.2, which raises what CuPy raised on a machine without a driver, and where
# another process has a GPU in exclusive use. It computes nothing.
STAND_IN = """
__version__ = "14.2.0"
class ndarray:  # what xarray looks for once it is imported
    pass
class cuda:
    class runtime:
        @staticmethod
        def getDeviceCount():
            {count}
    @staticmethod
    def Device(number):
        raise RuntimeError("cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy")
"""
USELESS = {
    "without driver": STAND_IN.format(
        count='raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is too old")'
    ),
    "busy": STAND_IN.format(count="return 1"),
    "broken": 'raise ImportError("libnvrtc.so.12: cannot open shared object file")\n',
}
REAL_CUPY = Path(sys.prefix) / "cupy"  # where `make test` installs it
REASONS = (
    "cudaErrorInsufficientDriver",  # of the real CuPy, or
    "cudaErrorNoDevice",
    "cudaErrorDevicesUnavailable",
    "libnvrtc.so.12",
)


@pytest.fixture(params=["real", *(pytest.param(each, marks=pytest.mark.broad) for each in USELESS)])
def cupy_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with an unusable CuPy: a stand-in, or the real one without a visible GPU."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    if request.param == "real":
        if not (REAL_CUPY / "cupy").is_dir():
            # The stand-ins are tested anyway; CI runs `make test`.
            pytest.skip(f"no CuPy in {REAL_CUPY}: `make test` installs it there")
        return REAL_CUPY
    package = tmp_path / "site" / "cupy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(USELESS[request.param])
    return package.parent


def test_without_cupy_the_error_names_the_extras_and_auto_is_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    cures = r"CuPy is not installed.*pip install 'cupy-cuda12x.*cupy-cuda13x"
    with pytest.raises(MachineError, match=cures):
        open_backend("gpu")
    assert open_backend("auto").name == open_backend().name == "cpu"


def test_the_cpu_is_opened_without_importing_cupy(cupy_folder: Path) -> None:
    """`import sweep` does not import it either."""
    text = (
        "import sys, sweep, sweep.kernel.cupy_device\n"
        "from sweep.kernel.opening import open_backend\n"
        "open_backend('cpu')\nassert 'cupy' not in sys.modules\n"
        "print(open_backend('auto').name, 'cupy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        env=environment(PYTHONPATH=os.pathsep.join([str(cupy_folder), str(ROOT)])),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == "cpu"


@pytest.mark.broad
def test_commands_work_with_a_cupy_that_cannot_be_used(cupy_folder: Path, tmp_path: Path) -> None:
    """`auto` computes on the CPU; `gpu` fails with reason and cure; the doctor reports both."""
    paths = os.pathsep.join([str(cupy_folder), str(ROOT)])
    smoke = ROOT / "configs" / "smoke" / "wear_power.toml"
    run = fresh_sweep_command("run", smoke, "-o", "a.zarr", folder=tmp_path, PYTHONPATH=paths)
    assert run.returncode == 0, run.stderr
    assert "computing on the CPU: " in run.stderr
    assert any(what in run.stderr for what in REASONS)
    both = (
        "import sys\nfrom sweep.cli import main\n"
        "refused = main(['run', sys.argv[1], '-o', 'b.zarr', '--backend', 'gpu'])\n"
        "sys.exit(10 * refused + main(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", both, smoke],
        cwd=tmp_path,
        env=environment(PYTHONPATH=paths),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 30, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert any(what in done.stderr for what in REASONS)
    assert "cupy-cuda12x" in done.stderr
    assert any(what in done.stdout for what in ("CuPy finds no device", "not usable"))
    assert "cupy-cuda12x" in done.stdout


# What CuPy 14.2 does if it may not write into the home folder.
CUPY_WITHOUT_CACHE = 'raise PermissionError(13, "Permission denied", "/home/me/.cupy")\n'


def test_if_cupy_cannot_keep_kernels_the_cure_is_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not another CuPy, nor a bug report: zarr imports CuPy for runs on the CPU too."""
    (tmp_path / "cupy.py").write_text(CUPY_WITHOUT_CACHE)
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    smoke = ROOT / "configs" / "smoke" / "wear_power.toml"
    run = fresh_sweep_command("run", smoke, "-o", "a.zarr", folder=tmp_path, PYTHONPATH=paths)
    assert run.returncode == 3
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DeviceError) as caught:
        open_backend("gpu")
    for message in (str(caught.value), run.stderr):
        assert "/home/me/.cupy" in message
        assert "CUPY_CACHE_DIR" in message
        assert "pip install" not in message


def test_the_gpu_text_of_every_method_is_printed(run: Any) -> None:
    status, out, _ = run("source", "mdr_contact", "time_stepping", "--backend", "gpu")
    assert status == 0
    assert 'extern "C" __global__ void tribosweep_finish' in out


def test_one_module_imports_cupy() -> None:
    named = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "sweep").rglob("*.py")
        if "import cupy" in path.read_text() or 'import_module("cupy' in path.read_text()
    ]
    assert named == ["sweep/kernel/cupy_device.py"]

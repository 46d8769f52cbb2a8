"""The GPU backend: kernels on a device. A thread computes one point, or a few items of a point."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

import numpy as np

from sweep.errors import DeviceError, LostDeviceError, SweepError
from sweep.kernel.backend import Computed, Stopped, Then
from sweep.kernel.batches import Pace, Work, item_sizes
from sweep.kernel.device import Device, Sizes, request_type
from sweep.kernel.forcing import forcings_of
from sweep.kernel.forcing_on_device import DeviceTables
from sweep.kernel.library import check_layout
from sweep.kernel.random_points import drawing_text, random_columns
from sweep.kernel.reducing import DeviceLauncher
from sweep.kernel.sorting import sorting
from sweep.kernel.source import Kernel, flat_text, kernel_of
from sweep.model.table import array_types, planes
from sweep.request.chunk import Points
from sweep.request.sweeps import Sweep

OPTIONS = ("-std=c++17", "--fmad=false")  # bits must not depend on where a compiler fuses
ITEMS_OF_A_THREAD = 4  # the items of a thread share the recurrence of the motion


class GpuBackend:
    """The GPU backend; calls of compute() from several threads share the device."""

    name = "gpu"

    def __init__(self, device: Device, budget: int | None = None) -> None:
        """`budget` fixes the units of work of each launch, for tests."""
        self._device = device
        self._budget = budget
        self.memory = device.memory  # bytes that a batch may take; less once the device had less
        self._paces: dict[Kernel, Pace] = {}
        self._has_room = True  # on the device, for what is then made of points

    @property
    def description(self) -> str:
        return self._device.description

    def prepare(self, sweep: Sweep, variants: tuple[str, ...] = ()) -> None:
        self._device.load(kernel_of(sweep, variants))

    def compute(
        self, sweep: Sweep, points: Points, stop: Event | None = None, then: Then | None = None
    ) -> Computed:
        """As Backend.compute(); LostDeviceError if this process can no longer use the device."""
        try:
            return self._compute(sweep, points, stop, then)
        except (Stopped, SweepError, MemoryError):
            raise
        except Exception as error:  # an exception type of the device's library
            if self._device.answers():
                raise
            raise LostDeviceError(
                f"the GPU is lost to this process: {type(error).__name__}: {error}. Finished "
                "chunks are kept: run the same sweep again to resume. Use backend cpu if the GPU "
                "does not recover; `sweep doctor` tests it"
            ) from error

    def _compute(
        self, sweep: Sweep, points: Points, stop: Event | None, then: Then | None
    ) -> Computed:
        outputs = planes(sweep.outputs)
        program = self._device.load(kernel_of(sweep, points.variants))
        pace = self._paces.setdefault(program.kernel, Pace(self._device.threads, self._budget))
        with self._device.queue() as queue:
            alike = sorting(sweep.method, points) if pace.sorts else None
            work = Work(queue, program, points, outputs, {}, pace, stop, sorting=alike)
            if random_columns(points.columns):
                work = replace(work, drawing=self._device.entry(drawing_text(), "draw"))
            if forcings := forcings_of(sweep.model):
                work = replace(work, tables=DeviceTables(forcings, points))
            if then is not None and self._has_room:
                try:
                    return self._on_device(work, then)
                except (MemoryError, DeviceError):
                    self._has_room = False  # from now on, that is made on the host
            types = array_types(outputs)
            if sweep.dtype == "float32" and then is None:
                types |= {each.name: np.float32 for each in outputs if each.kind == "real"}
                rounding = self._device.entry(flat_text("rounding_gpu.h"), "round")
                work = replace(work, rounding=rounding)
            arrays = {n: self._device.host_array(points.n_points, t) for n, t in types.items()}
            computed = self._run(replace(work, arrays=arrays))
        return computed.followed(then)

    def _on_device(self, work: Work, then: Then) -> Computed:
        """What is then made of the points, which stay on the device."""
        n_points, types = work.points.n_points, array_types(work.outputs)
        sizes = item_sizes(work.outputs).items()
        resident = {name: work.queue.empty(n_points * size) for name, size in sizes}
        seconds = self._run(replace(work, resident=resident)).kernel_seconds
        arrays = {n: work.queue.array(m, n_points, types[n]) for n, m in resident.items()}
        return Computed(then(arrays, DeviceLauncher(self._device, work.queue)), seconds)

    def _run(self, work: Work) -> Computed:
        self.memory = min(self.memory, work.run(self.memory))
        are_sorted = work.sorting is not None
        if are_sorted or not work.pace.sorts:
            work.pace.learn(work.points.n_points, work.seconds, are_sorted=are_sorted)
        return Computed(work.arrays, work.seconds)


def options_for(kernel: Kernel) -> tuple[str, ...]:
    """The options of NVRTC, apart from the architecture."""
    method = kernel.method
    lanes = ITEMS_OF_A_THREAD if method.items else 1
    options = (*OPTIONS, f"-DSWEEP_PACK={lanes}")
    simplest = {each.name for each in method.variants if each.value is not None}
    limited = method.registers is not None and simplest <= {*kernel.variants}
    return (*options, f"--maxrregcount={method.registers}") if limited else options


def check_sizes(sizes: Sizes, kernel: Kernel) -> None:
    """CompileError if the kernel's Request differs from request_type() in size."""
    request = request_type(len(kernel.parameters), len(planes(kernel.outputs)))
    check_layout(sizes.request_bytes, request, "block_gpu.h and device.py")

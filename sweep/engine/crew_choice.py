"""Which crew computes a run: threads, processes under Dask, or a process for each GPU."""

from __future__ import annotations

from sweep.engine.crews import Crew, Notify, OpenBackend, Threads, refuse_in_worker_process
from sweep.options import RunOptions, consistent


def crew_for(options: RunOptions, open_backend: OpenBackend, notify: Notify | None = None) -> Crew:
    """The crew that the options ask for; SweepError if they contradict one another."""
    options = consistent(options)
    refuse_in_worker_process(options)
    notify = notify or (lambda _line: None)
    if options.gpus is not None:
        from sweep.engine.gpus import GpuProcesses

        return GpuProcesses(options, open_backend, notify)
    if options.cluster is not None:
        from sweep.engine.clusters import Processes

        return Processes(options, open_backend, notify)
    return Threads(options, open_backend, notify)

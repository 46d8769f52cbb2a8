"""What runs a sweep: a ledger, a loop over an executor, and who computes: threads or processes."""

from __future__ import annotations

from sweep.engine.crews import (
    Crew,
    Notify,
    OpenBackend,
    crew_for,
    needs_backend_here,
    refuse_in_worker_process,
    threads_for,
    threads_of_gpu,
    usable_processors,
)
from sweep.engine.ledger import (
    ATTEMPTS,
    TASKS_PER_WORKER,
    Progress,
    Results,
    Summary,
    failed_arrays,
)
from sweep.engine.loop import run

__all__ = [
    "ATTEMPTS",
    "TASKS_PER_WORKER",
    "Crew",
    "Notify",
    "OpenBackend",
    "Progress",
    "Results",
    "Summary",
    "crew_for",
    "failed_arrays",
    "needs_backend_here",
    "refuse_in_worker_process",
    "run",
    "threads_for",
    "threads_of_gpu",
    "usable_processors",
]

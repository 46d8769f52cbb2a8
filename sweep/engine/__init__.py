"""What runs a sweep: a ledger, a loop over an executor, and who computes: threads or processes."""

from __future__ import annotations

from sweep.engine.crews import usable_processors
from sweep.engine.ledger import (
    ATTEMPTS,
    TASKS_PER_WORKER,
    Progress,
    Receipt,
    Results,
    Summary,
    failed_arrays,
)
from sweep.engine.loop import run
from sweep.engine.worker import Worker

__all__ = [
    "ATTEMPTS",
    "TASKS_PER_WORKER",
    "Progress",
    "Receipt",
    "Results",
    "Summary",
    "Worker",
    "failed_arrays",
    "run",
    "usable_processors",
]

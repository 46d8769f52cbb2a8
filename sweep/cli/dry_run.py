"""What `sweep run --dry-run` prints: a forecast, and the SLURM jobs that it would submit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweep.cli.printing import counted, duration, print_json, print_table, rate
from sweep.errors import MachineError

if TYPE_CHECKING:
    from sweep.forecast import Forecast
    from sweep.options import RunOptions


@dataclass(frozen=True)
class Jobs:
    """The jobs that `--cluster slurm` submits."""

    jobs: int
    cores: int  # per job
    job_script: str


def jobs_of(options: RunOptions) -> Jobs | None:
    """The SLURM jobs of a run with these options; None if it submits none."""
    from sweep.engine.slurm import job_script, jobs_and_cores
    from sweep.options import SLURM

    return Jobs(*jobs_and_cores(options), job_script(options)) if options.cluster == SLURM else None


def print_forecast(found: Forecast, store: str, jobs: Jobs | None, *, as_json: bool) -> None:
    """Print what a run needs; MachineError after that if the disk is too small."""
    if as_json:
        figures = {"store": store, **vars(found), "fits": found.fits}
        print_json(figures | (vars(jobs) if jobs else {}))
    else:
        print_table(_rows(found, store))
        if jobs:
            print("\ntime and workers are for threads on this machine")
            verb = "is" if jobs.jobs == 1 else "are"
            count = f"{counted(jobs.jobs, 'job')} with {counted(jobs.cores, 'core')} each"
            print(f"{count} {verb} submitted with this script:")
            print(f"\n{jobs.job_script.rstrip()}")
    if found.bytes_free is not None and not found.fits:
        raise MachineError(
            f"the disk of {store!r} has {_bytes(found.bytes_free)} free and this run may need "
            f"{_bytes(found.bytes_on_disk)}: choose a store on another disk with -o, fewer "
            'outputs, or dtype = "float32"'
        )


def _rows(found: Forecast, store: str) -> list[tuple[str, str]]:
    pending, total = f"{found.points_pending:,}", f"{found.points_total:,}"
    chunks = f"{found.chunks_pending:,} with up to {counted(found.chunk_points, 'point')}"
    pace = found.points_per_second
    took = "unknown: the first points took more than 10 s"
    if found.seconds is not None:
        took = f"about {duration(found.seconds)}" + (f", at {rate(pace)}" if pace else "")
    most = found.points_at_most
    bound = f"at most {most or 0:,} points in all; all below is for the coarse grid only"
    shard = (
        found.shard and f"{found.shard[0]} of {found.shard[1]}; all below is for this shard only"
    )
    return [
        ("store", store),
        *([("shard", shard)] if shard else []),
        *([] if most is None else [("refined", bound)]),
        ("points", f"{pending} pending" if pending == total else f"{pending} pending, of {total}"),
        ("chunks", chunks),
        ("disk", f"at most {_bytes(found.bytes_on_disk)}" + _room(found.bytes_free)),
        ("memory", f"at most {_bytes(found.bytes_of_memory)} beyond the program itself"),
        ("time", took),
        ("workers", f"{found.workers} on {found.backend}"),
    ]


def _room(free: int | None) -> str:
    return "" if free is None else f", of {_bytes(free)} free"


def _bytes(number: int) -> str:
    """A size with three figures: 12.6 MB."""
    size, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"

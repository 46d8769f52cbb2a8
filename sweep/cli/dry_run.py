"""What `sweep run --dry-run` prints: a forecast, and the SLURM jobs that it would submit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sweep.cli.printing import counted, duration, print_json, print_table, rate
from sweep.errors import MachineError
from sweep.options import SLURM, RunOptions

if TYPE_CHECKING:
    from sweep.forecast import Forecast


def print_forecast(found: Forecast, store: str, options: RunOptions, *, as_json: bool) -> None:
    """Print what a run needs; MachineError after that if the disk is too small."""
    jobs = _jobs(options) if options.cluster == SLURM else {}
    if as_json:
        print_json({"store": store, **vars(found), "fits": found.fits, **jobs})
    else:
        print_table(_rows(found, store))
        if jobs:
            print("\ntime and workers are for threads on this machine")
            verb = "is" if jobs["jobs"] == 1 else "are"
            count = f"{counted(jobs['jobs'], 'job')} with {counted(jobs['cores'], 'core')} each"
            print(f"{count} {verb} submitted with this script:\n\n{jobs['job_script'].rstrip()}")
    if found.bytes_free is not None and not found.fits:
        raise MachineError(
            f"the disk of {store!r} has {_bytes(found.bytes_free)} free and this run may need "
            f"{_bytes(found.bytes_on_disk)}: choose a store on another disk with -o, fewer "
            'outputs, or dtype = "float32"'
        )


def _jobs(options: RunOptions) -> dict[str, Any]:
    """The jobs that `--cluster slurm` submits, and their script."""
    from sweep.engine.slurm import job_script, jobs_and_cores

    number, cores = jobs_and_cores(options)
    return {"jobs": number, "cores": cores, "job_script": job_script(options)}


def _rows(found: Forecast, store: str) -> list[tuple[str, str]]:
    pending, total = f"{found.points_pending:,}", f"{found.points_total:,}"
    points = f"{pending} pending" + ("" if pending == total else f", of {total}")
    room = "" if found.bytes_free is None else f", of {_bytes(found.bytes_free)} free"
    pace = found.points_per_second
    took = "unknown: the first points took more than 10 s"
    if found.seconds is not None:
        took = f"about {duration(found.seconds)}" + (f", at {rate(pace)}" if pace else "")
    bound = f"at most {found.points_at_most or 0:,} points in all"
    shard = found.shard and f"{found.shard[0]} of {found.shard[1]}"
    rows = {
        "store": store,
        "shard": shard and f"{shard}; all below is for this shard only",
        "refined": f"{bound}; all below is for the coarse grid only",
        "points": points,
        "chunks": f"{found.chunks_pending:,} with up to {counted(found.chunk_points, 'point')}",
        "disk": f"at most {_bytes(found.bytes_on_disk)}{room}",
        "memory": f"at most {_bytes(found.bytes_of_memory)} beyond the program itself",
        "time": took,
        "workers": f"{found.workers} on {found.backend}",
    }
    if found.points_at_most is None:
        del rows["refined"]
    return [(name, text) for name, text in rows.items() if text]


def _bytes(number: int) -> str:
    """A size with three figures: 12.6 MB."""
    size, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"

"""What `sweep run --dry-run` prints: a forecast, and the SLURM jobs that it would submit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from sweep.cli.printing import counted, print_json, print_table
from sweep.engine.slurm import KEYS, folder_of_keys, job_script, jobs_and_cores, named
from sweep.errors import MachineError
from sweep.request.options import SLURM
from sweep.request.sweeps import Request
from sweep.results.forecast import MAX_SECONDS, Forecast, forecast
from sweep.store import is_url
from sweep.text.wording import duration, rate


def print_forecast(request: Request, store: str, *, as_json: bool) -> None:
    """Print what a run needs; end with the status of MachineError if the disk is too small."""
    estimate = forecast(request, store)
    jobs = dict[str, Any]()
    if request.options.cluster == SLURM:
        jobs = _jobs(request, store)
        store = store if is_url(store) else str(Path(store).absolute())
    if as_json:
        print_json({"store": store, **vars(estimate), "fits": estimate.fits, **jobs})
    else:
        print_table(_rows(estimate, store))
        if jobs:
            verb = "is" if jobs["jobs"] == 1 else "are"
            count = f"{counted(jobs['jobs'], 'job')} with {counted(jobs['cores'], 'core')} each"
            print(f"\n{count} {verb} submitted with this script:\n\n{jobs['job_script'].rstrip()}")
    if estimate.bytes_free is not None and not estimate.fits:
        too_small = MachineError(
            f"the disk of {store!r} has {_bytes(estimate.bytes_free)} free and this run may need "
            f"{_bytes(estimate.bytes_on_disk)}: choose a store on another disk with -o, fewer "
            'outputs, or dtype = "float32"'
        )
        if not as_json:
            raise too_small
        print(f"error: {too_small}", file=sys.stderr)  # stdout has its document already
        raise typer.Exit(too_small.exit_status)


def _jobs(request: Request, store: str) -> dict[str, Any]:
    """The jobs that `--cluster slurm` submits, and the script of the first."""
    options = named(request.options, request.name)
    number, cores = jobs_and_cores(options)
    keys = folder_of_keys(store) / f"{KEYS}XXXXXXXX"
    script = job_script(options, f"{options.slurm['name']}-0", "tls://HOST:PORT", keys)
    return {"jobs": number, "cores": cores, "job_script": script}


def _rows(estimate: Forecast, store: str) -> list[tuple[str, str]]:
    pending, total = f"{estimate.points_pending:,}", f"{estimate.points_total:,}"
    points = f"{pending} pending" + ("" if pending == total else f", of {total}")
    if most := estimate.points_at_most:
        points += f"; more follow from their results, to at most {most:,}, for which nothing counts"
    room = "" if estimate.bytes_free is None else f", of {_bytes(estimate.bytes_free)} free"
    pace = estimate.points_per_second
    time_text = f"unknown: a point takes more than {duration(MAX_SECONDS)}"
    if estimate.seconds is not None:
        time_text = f"about {duration(estimate.seconds)}" + (f", at {rate(pace)}" if pace else "")
    chunks = f"{estimate.chunks_pending:,} with up to {counted(estimate.chunk_points, 'point')}"
    if estimate.chunk_points_to_use_all is not None:
        chunks += "; too few to keep all workers busy: for a new store, give --chunk-points "
        chunks += f"{estimate.chunk_points_to_use_all} or less"
    return [
        ("store", store),
        ("points", points),
        ("chunks", chunks),
        ("disk", f"at most {_bytes(estimate.bytes_on_disk)}{room}"),
        ("memory", f"at most {_bytes(estimate.bytes_of_memory)} beyond the program itself"),
        ("time", time_text),
        ("workers", f"{estimate.workers} on {estimate.backend}"),
    ]


def _bytes(number: int) -> str:
    """A size with three figures: 12.6 MB."""
    size, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"

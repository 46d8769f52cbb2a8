"""What `sweep run --dry-run` prints: a forecast, and the SLURM jobs that it would submit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import typer

from sweep.api import needs
from sweep.cli.actions.contents import counts_json
from sweep.cli.printing import counted, print_json, print_table
from sweep.errors import MachineError
from sweep.forecast import Forecast, Probed
from sweep.options import SLURM, RunOptions
from sweep.request import Request
from sweep.spec import Status
from sweep.wording import duration, rate, share


def print_forecast(request: Request, store: str, *, as_json: bool) -> None:
    """Print what a run needs; end with the status of MachineError if the disk is too small."""
    forecast = needs(request, store)
    sentences = request.sweep.points.model.sentences
    jobs = _jobs(request.options) if request.options.cluster == SLURM else {}
    if as_json:
        probed = counts_json(forecast.probed.counts, sentences, forecast.probed.causes)
        figures = {**vars(forecast), "probed": probed}
        print_json({"store": store, **figures, "fits": forecast.fits, **jobs})
    else:
        print_table(_rows(forecast, store))
        _print_probed(forecast.probed, sentences)
        if jobs:
            verb = "is" if jobs["jobs"] == 1 else "are"
            count = f"{counted(jobs['jobs'], 'job')} with {counted(jobs['cores'], 'core')} each"
            print(f"\n{count} {verb} submitted with this script:\n\n{jobs['job_script'].rstrip()}")
    if forecast.bytes_free is not None and not forecast.fits:
        too_small = MachineError(
            f"the disk of {store!r} has {_bytes(forecast.bytes_free)} free and this run may need "
            f"{_bytes(forecast.bytes_on_disk)}: choose a store on another disk with -o, fewer "
            'outputs, or dtype = "float32"'
        )
        if not as_json:
            raise too_small
        print(f"error: {too_small}", file=sys.stderr)  # stdout has its document already
        raise typer.Exit(too_small.exit_status)


def _print_probed(probed: Probed, sentences: Mapping[Status, str]) -> None:
    """Print what has no value among the points that were probed."""
    total = probed.counts.total()
    for status, n in sorted(probed.counts.items()):
        if status is not Status.ok:
            known = list(probed.causes) if status is Status.outside_validity else []
            why = "; ".join(known) or sentences[status]
            print(f"\n{share(n / total)} of the points probed are {status.name}: {why}")


def _jobs(options: RunOptions) -> dict[str, Any]:
    """The jobs that `--cluster slurm` submits, and their script."""
    from sweep.engine import schedulers  # which brings distributed

    number, cores = schedulers.jobs_and_cores(options)
    return {"jobs": number, "cores": cores, "job_script": schedulers.job_script(options)}


def _rows(forecast: Forecast, store: str) -> list[tuple[str, str]]:
    pending, total = f"{forecast.points_pending:,}", f"{forecast.points_total:,}"
    points = f"{pending} pending" + ("" if pending == total else f", of {total}")
    if most := forecast.points_at_most:
        points += f"; more follow from their results, to at most {most:,}, for which nothing counts"
    room = "" if forecast.bytes_free is None else f", of {_bytes(forecast.bytes_free)} free"
    pace = forecast.points_per_second
    time_text = "unknown: the first points took more than 10 s"
    if forecast.seconds is not None:
        time_text = f"about {duration(forecast.seconds)}" + (f", at {rate(pace)}" if pace else "")
    shard = forecast.shard and f"{forecast.shard[0]} of {forecast.shard[1]}"
    chunks = f"{forecast.chunks_pending:,} with up to {counted(forecast.chunk_points, 'point')}"
    if forecast.chunk_points_to_use_all is not None:
        chunks += "; too few to keep all workers busy: for a new store, give --chunk-points "
        chunks += f"{forecast.chunk_points_to_use_all} or less"
    rows = {
        "store": store,
        "shard": shard and f"{shard}; all below is for this shard only",
        "points": points,
        "chunks": chunks,
        "disk": f"at most {_bytes(forecast.bytes_on_disk)}{room}",
        "memory": f"at most {_bytes(forecast.bytes_of_memory)} beyond the program itself",
        "time": time_text,
        "workers": _workers(forecast),
    }
    return [(name, text) for name, text in rows.items() if text]


def _workers(forecast: Forecast) -> str:
    """How many workers, on what; and on how few processors, or where, if the time depends on it."""
    if forecast.elsewhere:
        count = (
            f"{forecast.workers} of {forecast.processors}"
            if forecast.workers < forecast.processors
            else ""
        )
        cores = counted(forecast.processors, "core")
        return (
            f"{count or forecast.workers} on {cores} of SLURM jobs, as fast as {forecast.backend}"
        )
    text = f"{forecast.workers} on {forecast.backend}"
    if forecast.workers > forecast.processors:
        text += f"; more than the {counted(forecast.processors, 'processor')} here, so no faster"
    return text


def _bytes(number: int) -> str:
    """A size with three figures: 12.6 MB."""
    size, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB", "PB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.3g} {unit}"

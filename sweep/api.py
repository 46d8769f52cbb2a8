"""A sweep from its file to its Dataset: `sweep.run`, which the command line uses, too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Literal, Unpack

from sweep.engine.driver import Growing, open_store, run_in_memory, run_in_store, with_points
from sweep.engine.ledger import Progress, Summary
from sweep.engine.loop import Report
from sweep.engine.workers import OpenBackend, consistent
from sweep.errors import SweepError
from sweep.file import checked_options, load
from sweep.file.overrides import Changes
from sweep.file.stored import is_store
from sweep.kernel.opening import open_backend as open_backend_by_name
from sweep.points.recipes import fingerprint, recipe
from sweep.request.options import OPTIONS, RunKeywords
from sweep.request.sweeps import Request, Wear
from sweep.results.progress import shown as shown_progress
from sweep.results.progress import somebody_looks
from sweep.store import Store, refuse_no_path, write_derived
from sweep.store.datasets import is_current, source_at
from sweep.store.location import local_name
from sweep.store.store_files import anything_at
from sweep.store.upkeep import is_complete
from sweep.text.keywords import spelled_out
from sweep.text.wording import shown

if TYPE_CHECKING:
    import xarray as xr

RESULTS_FOLDER = Path("results")
MAX_SUFFIX = 60  # characters of overrides in the name of a store

MADE_FROM_STORES = {  # by suffix: the command that makes such files
    **dict.fromkeys((".nc", ".csv", ".parquet"), "export"),
    **dict.fromkeys((".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp"), "plot"),
    **dict.fromkeys((".html", ".htm"), "explore"),
}
Source = str | Path | Mapping[str, object]


@spelled_out(RunKeywords)
def run(
    source: Source,
    overrides: Changes = (),
    *,
    store: str | Path | Literal["auto"] | None = "auto",
    report: Report | None = None,
    progress: bool | None = None,
    stop: Event | None = None,
    **options: Unpack[RunKeywords],
) -> xr.Dataset:
    """Compute a sweep and return its results and `status` as an xarray.Dataset.

    `source` is a TOML file, the name of a shipped one, a mapping of the same shape, or a store,
    which is resumed. `overrides` are "name=value" texts as after `--set`, or a mapping such as
    {"friction": 0.1}. Results are written to `store`, by default results/NAME.zarr, or
    results/NAME-friction=0.1.zarr if overrides make another sweep. Chunks that are finished there
    are not computed again, and the Dataset is lazy. With store=None the Dataset is in memory and
    nothing is written.

    `progress` shows a bar on a terminal or in a notebook, and lines elsewhere; by default, only on
    a terminal or in a notebook, and if there is no `report`. `report` is called with the progress
    a few times a second. Set `stop`, a threading.Event, to end early.

    A point that cannot be computed has a `status` that says why. With [wear] in the file, the
    Dataset also has the wear over years, which is written to NAME_wear.zarr next to a finished
    store. Raises SweepError if the request or the machine is at fault. With `gpus` or
    cluster="local", worker processes import the calling script, which must therefore call this
    below `if __name__ == "__main__":`.

    The run options override those under [run] in the file:

    """
    _check_callbacks(report, stop)
    finish_extension(source)
    request = load(source, overrides)
    _refuse_parameters(options, request)
    request = with_options(request, **options)
    with _reporting(report, progress=progress) as reported:
        if store is None:
            return _with_wear(run_in_memory(request, reported, stop).dataset(), request)
        path = default_store(request, source, overrides) if store == "auto" else store
        computed_store, _ = compute(request, path, reported, stop)
        return _with_wear(computed_store.dataset(), request)


run.__doc__ = f"{inspect.cleandoc(run.__doc__ or '')}\n" + "\n".join(
    f"{name}: {option.meaning}" for name, option in OPTIONS.items()
)


@contextmanager
def _reporting(report: Report | None, *, progress: bool | None) -> Generator[Report | None]:
    """Within, the progress is shown, if it is to be, and reported."""
    if not (progress or (progress is None and report is None and somebody_looks())):
        yield report
        return
    with shown_progress() as show:

        def show_and_report(update: Progress) -> None:
            show(update)
            if report is not None:
                report(update)

        yield show_and_report


def compute(
    request: Request,
    path: str | Path,
    report: Report | None = None,
    stop: Event | None = None,
    notify: Callable[[str], None] | None = None,
    open_backend: OpenBackend = open_backend_by_name,
) -> tuple[Store, Summary]:
    """Compute what is not done in the store at `path`; the store and a summary of the run.

    With [wear], the wear of finished results is kept in `store_of_wear`. SweepError as in `run`.
    """
    refuse_no_path(path)
    refuse_suffix(path)
    Store.finish_extension(path)
    store = open_store(with_points(request, path), path)
    more = Growing(request, store)
    summary = run_in_store(store, request, report, stop, notify, open_backend, more)
    store = more.results
    if request.wear is not None and not summary.stopped and is_complete(store):
        source = source_at(path)
        worn, place = _worn(store.dataset(), request.wear), store_of_wear(path)
        # Not if the results are old and their wear is there.
        if summary.chunks or not is_current(worn, place, source):
            write_derived(worn, place, source)
    return store, summary


def finish_extension(source: Source) -> None:
    """Apply the extension of a store that is to be resumed, if it was stopped."""
    if isinstance(source, str | Path) and is_store(source):
        Store.finish_extension(source)


def refuse_suffix(path: str | Path) -> None:
    """SweepError if a new store would have the suffix of a file that is made from stores."""
    suffix = Path(str(path).rstrip("/")).suffix.lower()
    if suffix in MADE_FROM_STORES and not anything_at(path):
        store = f"{str(path).rstrip('/')[: -len(suffix)]}.zarr"
        raise SweepError(
            f"results are kept in a zarr store, and {str(path)!r} is not the name of one: give "
            f"{store!r}, and make the {suffix} from it by `sweep {MADE_FROM_STORES[suffix]}`"
        )


def _with_wear(dataset: xr.Dataset, request: Request) -> xr.Dataset:
    """The results with the variables of their wear, if the request has [wear]."""
    if request.wear is None:
        return dataset
    worn = _worn(dataset, request.wear).drop_vars("status")
    return dataset.assign(worn.data_vars).assign_coords(worn.coords)


def _worn(dataset: xr.Dataset, wear: Wear) -> xr.Dataset:
    """The wear over years; most sweeps have none, and do without its module."""
    from sweep.results.wear_over_years import wear_over_time

    return wear_over_time(dataset, wear)


def _check_callbacks(report: object, stop: object) -> None:
    """SweepError if `report` does not take one argument or `stop` is not an event."""
    if stop is not None and not _takes(getattr(stop, "is_set", None)):
        raise SweepError(f"stop={shown(stop)} is not a threading.Event; give one, or leave it out")
    if report is not None and not _takes(report, None):
        raise SweepError(
            f"report={shown(report)} cannot be called with one argument; "
            "give a function that can, or leave it out"
        )


def _refuse_parameters(options: Mapping[str, object], request: Request) -> None:
    """SweepError if a keyword is a parameter of the sweep, which is not an option of a run."""
    parameters = {each.name for each in request.sweep.points.inputs}
    for name, value in options.items():
        if name in parameters and name not in OPTIONS:
            raise SweepError(
                f"{name} is a parameter, and no option of a run: give {{{name!r}: {shown(value)}}} "
                "as the overrides"
            )


def _takes(called: object, *arguments: object) -> bool:
    """Whether it can be called with these arguments."""
    if not callable(called):
        return False
    try:
        inspect.signature(called).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # functions written in C may have no signature
        return True
    return True


def with_options(request: Request, **options: Unpack[RunKeywords]) -> Request:
    """The request with these run options in place of its own; None leaves one as it is.

    `workers` is also the number of SLURM jobs, and `gpus` replaces the file's `workers`. SweepError
    if an option is unknown, has a value it cannot take, or excludes another one.
    """
    requested = checked_options({key: v for key, v in options.items() if v is not None})
    if "slurm" in requested:
        requested["slurm"] = {**request.options.slurm, **requested["slurm"]}
    if "workers" in requested:
        slurm = requested.get("slurm", request.options.slurm)
        requested["slurm"] = {**slurm, "jobs": requested["workers"]}
    if "gpus" in requested:
        requested = {"workers": None, **requested}
    return replace(request, options=consistent(replace(request.options, **requested)))


def store_of_wear(store: str | Path) -> str:
    """The path or URL of the wear that follows from a store: NAME_wear.zarr beside it."""
    location = str(store).rstrip("/") if "://" in str(store) else str(local_name(str(store)))
    return f"{location.removesuffix('.zarr')}_wear.zarr"


def default_store(
    request: Request, source: Source | None = None, overrides: Changes = ()
) -> str | Path:
    """The default path of the results: of a store's own sweep, that store.

    Otherwise it is results/NAME.zarr, or with overrides that make another sweep
    results/NAME-friction=0.1.zarr, unless results/NAME.zarr holds that other sweep.
    """
    if isinstance(source, str | Path) and not overrides and is_store(source):
        return source
    path = RESULTS_FOLDER / f"{request.name}.zarr"
    if not overrides or source is None or _holds(path, request) or _asks_for(source, request):
        return path
    return RESULTS_FOLDER / f"{request.name}-{_suffix(request, overrides)}.zarr"


def _holds(path: Path, request: Request) -> bool:
    """Whether the store of this request is at the path."""
    try:
        stored = Store.open(path)
        requested = with_points(request, path).sweep
    except SweepError:
        return False
    return not stored.made_by.differences(requested, accept_revision=True)


def _asks_for(source: Source, request: Request) -> bool:
    """Whether the source without overrides is the same sweep."""
    try:
        written = load(source)
    except SweepError:
        return False
    is_same = recipe(written.sweep) == recipe(request.sweep)
    return is_same and written.refinement == request.refinement


def _suffix(request: Request, overrides: Changes) -> str:
    """The overrides of the sweep as part of a file's name, or 8 digits of the fingerprint."""
    texts = [overrides] if isinstance(overrides, str) else overrides
    if isinstance(texts, Mapping):
        texts = [f"{name}={value}" for name, value in texts.items()]
    joined = "-".join(text for text in texts if not text.startswith("run."))
    if len(joined) <= MAX_SUFFIX and re.fullmatch(r"[\w.=+-]+", joined, re.ASCII):
        return joined
    return fingerprint(recipe(request.sweep))[:8]

"""`sweep plot`: draw a picture, save it, and print what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

from sweep.cli.printing import counted, print_json, print_warning
from sweep.cli.stopping import interruptible
from sweep.engine.dask_threads import in_threads
from sweep.errors import SweepError
from sweep.pictures.cuts import output_name
from sweep.pictures.figures import refuse_end, save
from sweep.pictures.labels import quantity
from sweep.pictures.plots import draw_slices, slices_of
from sweep.pictures.relative_errors import spread
from sweep.pictures.sample_pictures import draw_as
from sweep.pictures.slices import Slice
from sweep.pictures.view import View
from sweep.results.progress import shown as shown_progress
from sweep.store import open_results
from sweep.store.location import local_name
from sweep.text.wording import listed

Shape = Literal["histogram", "scatter_matrix"]


def draw_results(
    results: Sequence[str],
    path: str | Path | None,
    cuts: Mapping[str, str],
    over: Sequence[str],
    shape: Shape | None,
    against: str | None,
    controls: Mapping[str, str],
    look: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Save a picture and print its path; `look` has the fields of View, with texts as limits."""
    stores, output = _stores_and_output(results)
    kind = f"against_{against}" if against else shape
    if path is not None:
        refuse_end(Path(path))  # before anything is computed
    path = _picture_beside(stores, output, kind) if path is None else Path(path)
    fields: dict[str, Any] = {
        **look,
        "limits": {n: _range(n, t) for n, t in look["limits"].items()},
    }
    view = View(**fields)
    if shape is not None and (against is not None or len(stores) > 1 or view != View(log=())):
        raise SweepError(
            "--as draws the sample of one store: leave out other stores, --against, and what "
            "chooses axes, scales, units, the size or the title"
        )
    has_progress = against is not None and not as_json
    with interruptible(), in_threads():
        if shape is not None:
            dataset = open_results(stores[0])
            written = save(draw_as(shape, dataset, output, cuts, over), path)
            if as_json:
                print_json({"output": output_name(dataset, output), "file": str(written)})
            else:
                print(written)
            return
        with shown_progress() if has_progress else nullcontext() as report:
            shown = slices_of(
                stores, output, cuts, over, view,
                against=against,
                parameters=controls,
                report=report,
            )  # fmt: skip
        _print_plots(shown, save(draw_slices(shown), path), as_json=as_json)


def _stores_and_output(results: Sequence[str]) -> tuple[Sequence[str], str | None]:
    """The stores, and the output, which is the last name unless a store of that name exists."""
    last = results[-1]
    if not all(results):
        raise SweepError("STORE is empty; is a shell variable unset?")
    names = [each for each in results[1:] if not _is_store(each)]
    if len(names) > 1:
        raise SweepError(
            f"{listed(names)} are no stores, and one output is drawn: give one name after the "
            "stores, and draw the others by themselves"
        )
    return (results[:-1], last) if names == [last] else (results, None)


def _is_store(name: str) -> bool:
    """Whether a store is meant: a URL, a name in .zarr, or a path that exists."""
    return "://" in name or name.rstrip("/").endswith(".zarr") or Path(name).exists()


def _range(name: str, text: str) -> tuple[str, str]:
    """The limits in a text LOW:HIGH."""
    low, colon, high = text.partition(":")
    if not (low and colon and high):
        raise SweepError(f"--limits {name}: {text!r} is not LOW:HIGH, such as 0.1:0.5")
    return low, high


def _picture_beside(stores: Sequence[str], output: str | None, kind: str | None) -> Path:
    paths = [local_name(each) for each in stores]
    parts = [*(each.stem for each in paths), output, kind]
    return paths[0].parent / ("_".join(filter(None, parts)) + ".png")


def _print_plots(shown: Mapping[str, Slice], written: Path, *, as_json: bool) -> None:
    """Print the picture's path, after median and worst of errors; of several slices, of each."""
    descriptions = {label: _described(each) for label, each in shown.items()}
    first = next(iter(descriptions.values()))
    if as_json:
        several = {"panels": descriptions}
        results = first if len(descriptions) == 1 else {"output": first["output"], **several}
        print_json({**results, "file": str(written)})
        return
    for label, each in shown.items():
        if each.instead_of:
            reason = f"{listed(each.instead_of)}: infinite wherever there is a value; drawn instead"
            print_warning(f"{reason}: {each.name}")
        if "against" in each.dataset.attrs:
            print(f"{label}: " if label else "", end="")
            _print_spread(each)
    print(written)


def _described(shown: Slice) -> dict[str, Any]:
    """What is drawn, as JSON."""
    results: dict[str, Any] = {"output": shown.name}
    if shown.instead_of:
        results["infinite_outputs"] = list(shown.instead_of)
    attributes = shown.dataset.attrs
    if "against" in attributes:
        errors = spread(shown.dataset, shown.name)
        results |= {
            "method": attributes["method"],
            "against": attributes["against"],
            **vars(errors),
        }
        results["where"] = {name: float(value) for name, value in errors.where.items()}
        results["no_value"] = {status.name: count for status, count in shown.missing.items()}
        results["infinite"] = dict(shown.infinite)
    return results


def _print_spread(shown: Slice) -> None:
    errors = spread(shown.dataset, shown.name)
    where = (f"{name} = {quantity(value)}" for name, value in errors.where.items())
    place = f" at {', '.join(where)}" if errors.where else ""
    print(f"{shown.output.attrs['long_name']}: median {errors.median:.3g}, ", end="")
    print(f"worst {errors.worst:.3g}{place}")
    missing = [f"{count:,} {status.name}" for status, count in shown.missing.items()]
    missing += [f"{count:,} left out at {name} = inf" for name, count in shown.infinite.items()]
    print(counted(errors.points, "point"), *missing, sep=", ")

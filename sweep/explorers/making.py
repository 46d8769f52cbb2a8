"""From a store or a sweep file to the file of its explorer."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shlex
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import xarray as xr

from sweep.errors import SweepError
from sweep.explorers.inline import PageFile
from sweep.explorers.page_contents import contents
from sweep.explorers.preview import fitting
from sweep.explorers.subject import Subject
from sweep.file import load
from sweep.file.stored import is_store
from sweep.pictures.comparison import reference_sweep
from sweep.pictures.cuts import check_names
from sweep.points.recipes import model_in
from sweep.request.sweeps import AnySweep, Reduced, Sweep
from sweep.results.summary import coded, refuse_no_results
from sweep.statistics.outputs import POINTS_BY_STATUS
from sweep.store import Store, open_results
from sweep.store.datasets import BY, settled
from sweep.store.disk_faults import making
from sweep.store.location import local_name

DEFAULT_SIZE = 250  # kB, at least
MAP_ROOM = 16_000  # bytes for the map, for which a page of a large kernel is longer by default
SUFFIXES = (".html", ".htm")
FEW_VALUES = 128  # of an axis that keeps all of them
BORDERS_SHARE = 0.04  # of a page, at most, for borders known from theory, which are optional
FOLDER = Path(__file__).resolve().parent / "page"
SCRIPTS = (
    *("data.js", "units.js", "scales.js", "colours.js", "computing.js"),
    *("frame.js", "regions.js", "curves.js", "map.js", "charts.js", "motion.js", "copying.js"),
    *("page.js", "picture.js", "fixed.js", "drawing.js", "point.js", "pointer.js", "link.js"),
    "controls.js",
)
WORKER = ("kernel.js", "worker.js")


def explore(
    source: xr.Dataset | str | Path,
    path: str | Path | None = None,
    *,
    outputs: str | Sequence[str] | None = None,
    size: int | None = None,
    open: bool = False,  # noqa: A002 (as the option of the command)
) -> Path:
    """Write a page in which the map of a sweep can be explored, and return its path.

    `source` is a Dataset, the path of a store, or a sweep file or the name of a shipped one, whose
    points the page computes itself. `path` ends in .html; by default it is NAME.html, beside a
    store on a disk and otherwise in the working directory, and a notebook shows the page below the
    cell. With `open`, the browser opens the page.

    The page contains the `outputs` of these names, by default all. If they leave no room in a page
    of `size` kB (by default 250, and more for a kernel that needs it), they are rounded to 0.4 %
    and thinned evenly; so are the values along axes if they leave no room for a map. Borders known
    from theory take at most 4 % of the page, and nothing where the map or the values need it. The
    same store, named in the same way, gives the same bytes.

    SweepError if there is nothing to explore, CompileError if a kernel has to be compiled and the
    extra `compiler` is missing.
    """
    if not isinstance(cast(object, source), str | Path):
        refuse_no_results(source)
    target = _beside(source) if path is None else Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise SweepError(
            f"{str(target)!r} has no suffix of a page: write {str(target.with_suffix('.html'))!r}"
        )
    names = [outputs] if isinstance(outputs, str) else outputs or ()
    subject = _subject(source, names)
    subject, page, room = _with_room(subject, _default_size(subject) if size is None else size)
    if room < 0:
        assert size is not None
        raise SweepError(
            f"without any map, an explorer of {subject.name!r} has {size * 1000 - room:,} "
            f"bytes, more than {size:,} kB: raise `size` or leave it out"
        )
    page |= fitting(subject, room)
    with making(target):
        target.write_bytes(_document(page).encode())
    if open:
        webbrowser.open(target.resolve().as_uri())
    return PageFile(target) if path is None else target


def _beside(source: xr.Dataset | str | Path) -> Path:
    """The default path of the page."""
    if isinstance(source, xr.Dataset):
        return Path(f"{_name(source)}.html")
    path = local_name(str(source))
    ending = path.suffix if path.suffix in (".zarr", ".toml") else ""
    page = f"{path.name.removesuffix(ending)}.html"
    with suppress(PermissionError):  # named where the store is read
        if path.is_dir() and "://" not in str(source):
            return path.parent / page
    return Path(page)


def _name(results: xr.Dataset) -> str:
    """The name of results that are not those of a store: that of their model."""
    return str(results.attrs.get("model", "results"))


def _default_size(subject: Subject) -> int:
    """The size in kB of a page with room for a map, whatever its kernel takes."""
    names = (*subject.dimensions, *subject.behind)
    short = replace(subject, most=dict.fromkeys(names, FEW_VALUES))
    least = len(_document(contents(short, 0)).encode())
    return max(DEFAULT_SIZE, -(-(least + MAP_ROOM) // 1000))


def _with_room(subject: Subject, kilobytes: int) -> tuple[Subject, dict[str, Any], int]:
    """Return the subject, its page, and the bytes left for the map.

    They are more than a long axis takes, and than borders may; a sweep that is not run needs none.
    For room, borders known from theory are left out at first, then axes are thinned.
    """
    size = kilobytes * 1000
    while True:
        for most in (int(BORDERS_SHARE * size), 0):
            page = contents(subject, most)
            room = size - len(_document(page).encode())
            lengths = {
                str(each["name"]): len(json.dumps(each["columns"]))
                for each in (*page["dimensions"], *page["behind"])
                if each["kept"] > FEW_VALUES
            }
            longest = max(lengths, key=lambda name: lengths[name], default="")
            length = lengths.get(longest, 0)
            if room >= (0 if subject.stored is None else max(length, most)):
                return subject, page, room
        if length < 8 * FEW_VALUES:
            return subject, page, room
        subject = replace(subject, most={**subject.most, longest: subject.size(longest) // 2})


def _subject(source: xr.Dataset | str | Path, outputs: Sequence[str]) -> Subject:
    if isinstance(source, xr.Dataset):
        return _results(source, outputs)
    if not is_store(source):
        request = load(source)
        sweep = request.sweep.points
        check_names("output", outputs, [output.name for output in sweep.outputs])
        command, reduced = _command(source, sweep), _reduced(request.sweep)
        shown = tuple(outputs)
        return Subject(request.name, command, sweep, None, shown, reduced, request=request)
    dataset = settled(open_results(source))
    name = Path(str(source).rstrip("/").rpartition("/")[2]).stem
    shown = _shown(dataset, outputs)
    if BY in dataset.attrs:
        return Subject(name, "", None, dataset, shown)
    if not model_in(dataset.attrs):
        return Subject(name, _command(source, None), None, dataset, shown)
    stored = Store.open(source)
    sweep, command = stored.sweep.points, _command(source, stored.sweep.points)
    reduced = _reduced(stored.sweep)
    return Subject(name, command, sweep, dataset, shown, reduced, stored.made_by.other_code())


def _reduced(sweep: AnySweep) -> Reduced | None:
    return sweep if isinstance(sweep, Reduced) else None


def _results(dataset: xr.Dataset, outputs: Sequence[str]) -> Subject:
    """Results in memory, or a selection of them; `sweep trace` has no name for them."""
    dataset, shown = coded(dataset), _shown(dataset, outputs)
    if BY in dataset.attrs or POINTS_BY_STATUS in dataset or not model_in(dataset.attrs):
        return Subject(_name(dataset), "", None, dataset, shown)
    sweep = reference_sweep(dataset, str(dataset.attrs["method"]))
    stored, own = int(dataset.attrs["revision"]), sweep.method.revision
    other = "" if stored == own else f"revision {stored} in the results, {own} in this program"
    return Subject(_name(dataset), "", sweep, dataset, shown, other_code=other)


def _shown(dataset: xr.Dataset, outputs: Sequence[str]) -> tuple[str, ...]:
    """The outputs that the page contains."""
    known = [str(name) for name in dataset.data_vars if name != "status"]
    check_names("output", outputs, known)
    return tuple(outputs or known)


def _command(source: str | Path, sweep: Sweep | None) -> str:
    """`sweep trace` of the source; empty if its method cannot be traced."""
    is_traced = sweep is None or sweep.method.traced
    return f"sweep trace {shlex.quote(str(source))}" if is_traced else ""


def _document(page: Mapping[str, Any]) -> str:
    """The page as text. Names and attributes appear in it as data only."""
    script, style = "\n".join(map(_short, SCRIPTS)), _text("page.css")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(script)} 'wasm-unsafe-eval'",
            f"style-src {_hash(style)}",
            "img-src data: blob:",
            "worker-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "POLICY": html.escape(policy),
        "TITLE": html.escape(f"{page['name']}: {page['title']}"),
        "STYLES": f"<style>{style}</style>\n",
        "WORKER": "\n".join(map(_short, WORKER)),
        "CONTENTS": json.dumps(page, separators=(",", ":"), allow_nan=False).replace(
            "<", "\\u003c"
        ),
        "SCRIPTS": f"<script>{script}</script>\n",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text("page.html"))


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _short(name: str) -> str:
    """A script without indentation and lines that are comments."""
    lines = (line.strip() for line in _text(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

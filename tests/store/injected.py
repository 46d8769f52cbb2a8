"""Faults injected below the program: into the operating system, or into an object store."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest


class StoppedError(BaseException):
    """As a kill would, at one step."""


def fail_writing(monkeypatch: pytest.MonkeyPatch, number: int, what: str | Callable[[str], bool]):
    """No file whose path has this text, or for which this holds, can be opened for writing."""
    fails = what if callable(what) else lambda path: what in path
    really_open, really_open_file = os.open, io.open

    def refuse(path: Any) -> None:
        if not isinstance(path, int) and fails(Path(path).as_posix()):
            raise OSError(number, os.strerror(number))

    def open_(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & os.O_CREAT:
            refuse(path)
        return really_open(path, flags, *args, **options)

    def open_file(path: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if set(mode) & set("wax"):
            refuse(path)
        return really_open_file(path, mode, *args, **options)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(io, "open", open_file)


def stop_at(step: int, act: Callable[[], object], *, at: str = "") -> bool:
    """Whether the act was stopped before it renames or removes a file for the step-th time.

    Counted are paths with the text `at`; what is built in scratch folders is not.
    """
    with pytest.MonkeyPatch.context() as patched:
        stop = _stopping(step, lambda path: at in path and ".partial/" not in path)
        for name in ("replace", "rename", "unlink"):
            patched.setattr(os, name, stop(getattr(os, name), last=name != "unlink"))
        return _is_stopped(act)


def stop_objects_at(url: str, step: int, act: Callable[[], object]) -> bool:
    """The same of an act that puts and removes objects at a URL."""
    system, _ = fsspec.url_to_fs(url)
    with pytest.MonkeyPatch.context() as patched:
        stop = _stopping(step, lambda path: ".log/" not in path)
        for name in ("pipe_file", "rm_file"):
            patched.setattr(system, name, stop(getattr(system, name), last=False))
        return _is_stopped(act)


def _stopping(step: int, counts: Callable[[str], bool]) -> Callable[..., Callable[..., Any]]:
    steps = iter(range(10**6))

    def stop(real: Callable[..., Any], *, last: bool) -> Callable[..., Any]:
        def stopping(*paths: Any, **options: Any) -> Any:
            if counts(str(paths[1 if last else 0])) and next(steps) == step:
                raise StoppedError
            return real(*paths, **options)

        return stopping

    return stop


def _is_stopped(act: Callable[[], object]) -> bool:
    try:
        act()
    except StoppedError:
        return True
    return False

"""A file is whole or missing, whatever the operating system accepts at once or cannot do."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sweep.store import durable
from sweep.store.durable import write

PIECES = [bytes(range(16)), memoryview(bytes(range(256)) * 1000), b"", b"last"]
WHOLE = b"".join(PIECES)


def written(folder: Path, pieces: list[Any] = PIECES) -> bytes:
    path = folder / "c" / "0"
    write(str(path), pieces, durable=False)
    assert [file.name for file in path.parent.iterdir()] == ["0"]
    return path.read_bytes()


def accept(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system accept that many bytes at once."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, piece: real(file, piece[:most]))


@pytest.mark.parametrize("most", [1, 7, 16, 17, 999, 256_016, len(WHOLE)])
def test_a_system_may_accept_fewer_bytes_than_are_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    pieces = PIECES if most >= 999 else [PIECES[0] * 3, b"last"]  # one call per byte takes a while
    accept(most, monkeypatch)
    assert written(tmp_path, pieces) == b"".join(pieces)


def test_pieces_are_counted_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the items of an array are, even if the system accepts a part of them."""
    accept(50, monkeypatch)
    values = np.linspace(0.0, 1.0, 24).reshape(4, 6)
    content = written(tmp_path, [b"head", memoryview(values), b"end"])
    assert content == b"head" + values.tobytes() + b"end"


def refuse(number: int) -> Callable[..., Any]:
    def refused(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    return refused


def test_the_first_error_is_the_one_that_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing disk may not let the scratch file be removed, either."""
    monkeypatch.setattr(os, "write", refuse(errno.ENOSPC))
    monkeypatch.setattr(os, "unlink", refuse(errno.EROFS))
    with pytest.raises(OSError, match="No space left") as caught:
        written(tmp_path)
    assert caught.value.errno == errno.ENOSPC


def test_the_old_file_stays_if_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(tmp_path) == WHOLE
    real = os.write
    files: list[int] = []

    def write_once(file: int, piece: memoryview) -> int:
        files.append(file)
        if len(files) > 1:
            raise OSError(5, "Input/output error")
        return real(file, piece[:4])

    monkeypatch.setattr(os, "write", write_once)
    with pytest.raises(OSError, match="Input/output"):
        written(tmp_path)
    assert [file.name for file in (tmp_path / "c").iterdir()] == ["0"]
    assert (tmp_path / "c" / "0").read_bytes() == WHOLE
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(files[0])


@pytest.mark.skipif(sys.platform != "linux", reason="space is reserved on Linux only")
@pytest.mark.parametrize("names", [("fallocate64", "fallocate"), ("fallocate",), ()])
def test_space_is_reserved_where_the_system_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    """musl has no fallocate64 from 1.2.4 on; and a file system may refuse."""
    reserved: list[tuple[int, ...]] = []

    def fallocate(*arguments: int) -> int:
        reserved.append(arguments[1:])
        return -1

    durable._fallocate.cache_clear()
    monkeypatch.setattr(
        ctypes, "CDLL", lambda _: SimpleNamespace(**dict.fromkeys(names, fallocate))
    )
    try:
        assert written(tmp_path) == WHOLE
    finally:
        durable._fallocate.cache_clear()
    assert reserved == ([(0, 0, len(WHOLE))] if names else [])

"""A file is whole or not there, whatever the system takes at once or cannot do."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sweep.store import durable

PIECES = [bytes(range(16)), memoryview(bytes(range(256)) * 1000), b"", b"last"]
WHOLE = b"".join(PIECES)


def written(folder: Path) -> bytes:
    path = folder / "c" / "0"
    durable.write(str(path), PIECES, durable=False)
    assert [file.name for file in path.parent.iterdir()] == ["0"]
    return path.read_bytes()


@pytest.mark.parametrize("most", [1, 7, 16, 17, 999, 256_016, len(WHOLE)])
def test_a_system_may_take_less_than_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    if most < 999:  # a call a byte would take a while
        monkeypatch.setattr("tests.store.test_writes.PIECES", [PIECES[0] * 3, b"last"])
    real = os.write

    def writev(file: int, pieces: Sequence[memoryview]) -> int:
        return real(file, b"".join(pieces)[:most])

    monkeypatch.setattr(os, "writev", writev, raising=False)
    assert written(tmp_path) == b"".join(PIECES)


def test_a_system_may_take_one_piece_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows does, and some of it: no more than 2**31 - 1 bytes."""
    real = os.write
    monkeypatch.delattr(os, "writev", raising=False)
    monkeypatch.setattr(os, "write", lambda file, piece: real(file, piece[:100_000]))
    assert written(tmp_path) == WHOLE


def test_no_call_takes_more_than_a_system_may_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS answers EINVAL to more than 2**31 - 1 bytes at once, by writev too."""
    real, most = os.write, 1000

    def writev(file: int, pieces: Sequence[memoryview]) -> int:
        if sum(piece.nbytes for piece in pieces) > most:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return real(file, b"".join(pieces))

    monkeypatch.setattr(durable, "MOST_AT_ONCE", most)
    monkeypatch.setattr(os, "writev", writev, raising=False)
    assert written(tmp_path) == WHOLE


def test_pieces_are_counted_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the items of an array are, also where the system takes a part of them."""
    real = os.write
    monkeypatch.setattr(
        os, "writev", lambda file, pieces: real(file, b"".join(pieces)[:50]), raising=False
    )
    values = np.linspace(0.0, 1.0, 24).reshape(4, 6)
    monkeypatch.setattr("tests.store.test_writes.PIECES", [b"head", memoryview(values), b"end"])
    assert written(tmp_path) == b"head" + values.tobytes() + b"end"


@pytest.mark.skipif(sys.platform != "linux", reason="others do not reserve")
def test_either_name_of_the_call_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """musl from 1.2.4 on has no fallocate64, whose fallocate takes 64 bits everywhere."""
    for names in (("fallocate64", "fallocate"), ("fallocate",), ()):
        there = SimpleNamespace(**{name: lambda *_: 0 for name in names})
        monkeypatch.setattr(ctypes, "CDLL", lambda _, there=there: there)
        found = durable._fallocate.__wrapped__()
        assert (found is not None) == bool(names)


def test_the_first_error_is_the_one_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fails may not let the scratch file be removed, either."""

    def refuse(number: int) -> Callable[..., Any]:
        def refused(*_: object, **__: object) -> Any:
            raise OSError(number, os.strerror(number))

        return refused

    monkeypatch.setattr(os, "writev", refuse(errno.ENOSPC), raising=False)
    monkeypatch.setattr(os, "write", refuse(errno.ENOSPC))
    monkeypatch.setattr(os, "unlink", refuse(errno.EROFS))
    with pytest.raises(OSError, match="No space left") as caught:
        written(tmp_path)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("answer", [-1, None])
def test_a_file_system_need_not_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int | None
) -> None:
    asked: list[tuple[int, ...]] = []

    def fallocate(*arguments: int) -> int | None:
        asked.append(arguments[1:])
        return answer

    monkeypatch.setattr(durable, "_fallocate", lambda: None if answer is None else fallocate)
    assert written(tmp_path) == WHOLE
    assert asked == ([] if answer is None else [(0, 0, len(WHOLE))])


def test_what_was_there_stays_if_the_new_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(tmp_path) == WHOLE
    calls: list[int] = []

    def refuse(file: int, pieces: object) -> int:
        calls.append(file)
        if len(calls) > 1:
            raise OSError(5, "Input/output error")
        return os.write(file, b"torn")

    monkeypatch.setattr(os, "writev", refuse, raising=False)
    with pytest.raises(OSError, match="Input/output"):
        written(tmp_path)
    assert [file.name for file in (tmp_path / "c").iterdir()] == ["0"]
    assert (tmp_path / "c" / "0").read_bytes() == WHOLE
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(calls[0])

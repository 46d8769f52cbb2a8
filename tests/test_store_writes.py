"""A file is whole or not there, whatever the system takes at once or cannot do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

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
        monkeypatch.setattr("tests.test_store_writes.PIECES", [PIECES[0] * 3, b"last"])
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

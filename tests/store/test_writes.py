"""A file is whole or missing, whatever the operating system accepts at once or cannot do."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sweep.store.durable import write

WHOLE = bytes(range(256)) * 1000 + b"last"


def written(folder: Path, content: bytes = WHOLE) -> bytes:
    path = folder / "c" / "0"
    write(str(path), content, durable=False)
    assert [file.name for file in path.parent.iterdir()] == ["0"]
    return path.read_bytes()


def accept(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system accept that many bytes at once."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, piece: real(file, piece[:most]))


@pytest.mark.parametrize("most", [1, 7, 999, 256_000, len(WHOLE)])
def test_a_system_may_accept_fewer_bytes_than_are_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    content = WHOLE if most >= 999 else WHOLE[-50:]  # one call per byte takes a while
    accept(most, monkeypatch)
    assert written(tmp_path, content) == content


def test_an_empty_file_is_written(tmp_path: Path) -> None:
    assert written(tmp_path, b"") == b""


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

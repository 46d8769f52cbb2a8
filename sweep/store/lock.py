"""The lock of a store: beside it, never in it, and gone with the process that holds it."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from sweep.errors import StoreError
from sweep.store.faults import writing


@contextmanager
def exclusive(store: Path, holder: Path) -> Generator[None]:
    """Within, no other process and no other Store holds the store; the file `holder` says who does.

    Raises StoreError at once where it is held already. The operating system frees the lock of a
    process that dies, however it dies.
    """
    lock = FileLock(store.with_name(f"{store.name}.lock"), thread_local=False)
    with writing(Path(lock.lock_file)):
        acquired = _acquire(lock)
    if not acquired:
        raise StoreError(f"{str(store)!r} is held by {_who(holder)}")
    try:
        with writing(holder):
            _sign(holder)
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock) -> bool:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def _sign(holder: Path) -> None:
    # Not in the lock's own file: Windows lets nobody read that while it is held.
    holder.parent.mkdir(exist_ok=True)
    since = datetime.now(UTC).isoformat(timespec="seconds")
    signature = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    scratch = holder.with_suffix(".partial")
    scratch.write_text(json.dumps(signature) + "\n", encoding="utf-8")
    scratch.replace(holder)


def _who(holder: Path) -> str:
    """Who holds it and what to do; a holder that has only just begun may not have signed yet."""
    try:
        signature = json.loads(holder.read_text(encoding="utf-8"))
        pid, host, since = (signature[key] for key in ("pid", "host", "since"))
    except (OSError, ValueError, KeyError, TypeError):
        return "another process; wait until it has finished, or stop it"
    return (
        f"process {pid} on {host} since {since}; wait until it has finished, stop it "
        f"(`kill {pid}` there), or name another store with -o"
    )

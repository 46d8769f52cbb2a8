"""The locks of a store: next to it, never in it, and released when the holding process ends.

Every run first acquires the store's lock and looks at those of its shards. A whole run keeps the
store's lock; a shard of a job array releases it once it holds its own.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from sweep.errors import StoreError
from sweep.store.faults import refuse_no_file, writing
from sweep.store.place import is_url

CLOCK_SLACK = 5.0  # s by which a process may seem younger than what it wrote: clocks are adjusted
MAX_START_SECONDS = 10.0  # shards that start at the same time wait for one another


@contextmanager
def exclusive(store: Path) -> Generator[None]:
    """Within, no other process and no other Store holds the store; a file says who does.

    Raises StoreError at once if it or one of its shards is held. When a process dies, the operating
    system releases its lock.
    """
    with _whole_store_locked(store):
        if other := _held_shard(folder(store)):
            raise StoreError(f"{str(store)!r}: {other.stem} is held by {_who(_signature(other))}")
        with _signing(_holder(store)):
            yield


@contextmanager
def shared(store: Path, shard: str, clean: Callable[[], None]) -> Generator[None]:
    """Within, no other process holds the shard or the whole store; a file says who holds the shard.

    `clean` is called if no other shard is held, while none can start. Raises StoreError if the
    shard is held, or if the store is held for longer than a shard takes to start.
    """
    shard_lock = folder(store) / f"{shard}.lock"
    with writing(shard_lock):
        shard_lock.parent.mkdir(exist_ok=True)
    with ExitStack() as starting:
        starting.enter_context(_whole_store_locked(store, MAX_START_SECONDS))
        is_alone = _held_shard(folder(store)) is None
        with _locked(shard_lock, _signature(shard_lock), f"{shard} of {str(store)!r}"):
            if is_alone:
                clean()
            with _signing(_signature(shard_lock)):
                starting.close()
                yield


def folder(store: Path) -> Path:
    """The folder of signatures, shards' locks and receipts, next to the store."""
    return store.with_name(f"{store.name}.log")


def _holder(store: Path) -> Path:
    """The signature of who holds the whole store."""
    return folder(store) / "holder.json"


def _whole_store_locked(store: Path, timeout: float = 0.0) -> AbstractContextManager[None]:
    lock = store.with_name(f"{store.name}.lock")
    return _locked(lock, _holder(store), repr(str(store)), timeout)


@contextmanager
def _locked(path: Path, holder: Path, name: str, timeout: float = 0.0) -> Generator[None]:
    lock = FileLock(path, thread_local=False)
    with writing(path):
        acquired = _acquire(lock, timeout)
    if not acquired:
        raise StoreError(f"{name} is held by {_who(holder)}")
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: FileLock, timeout: float = 0.0) -> bool:
    refuse_no_file(lock.lock_file)
    try:
        lock.acquire(timeout=timeout, poll_interval=0.02)
    except Timeout:
        return False
    return True


def _signature(shard: Path) -> Path:
    return shard.with_suffix(".json")


def _held_shard(folder: Path) -> Path | None:
    """The lock of a shard that another process holds now, or None."""
    for path in sorted(folder.glob("shard-*.lock")):
        lock = FileLock(path, thread_local=False)
        with writing(path):
            if not _acquire(lock):
                return path
        lock.release()
    return None


@contextmanager
def _signing(holder: Path) -> Generator[None]:
    """Within, the file says that this process holds the lock; a killed process leaves it."""
    # Not in the lock file itself, which nobody can read on Windows while it is held.
    since = datetime.now(UTC).isoformat(timespec="seconds")
    signature = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
    scratch = holder.with_suffix(".partial")
    with writing(holder):
        refuse_no_file(holder)
        refuse_no_file(scratch)
        holder.parent.mkdir(exist_ok=True)
        scratch.write_text(json.dumps(signature) + "\n", encoding="utf-8")
        scratch.replace(holder)
    try:
        yield
    finally:
        with suppress(OSError):  # the results count, not this file
            holder.unlink()


def signed(holder: Path) -> dict[str, Any]:
    """Who signed a file: pid, host and time; {} if nobody has. StoreError if it is no file."""
    try:
        refuse_no_file(holder)
        signature = json.loads(holder.read_text(encoding="utf-8"))
        return {**{key: signature[key] for key in ("pid", "host")}, "time": signature["since"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def holders(location: str) -> list[dict[str, Any]] | None:
    """The living processes that hold a store or a shard: host, pid, time; None for a URL."""
    if is_url(location):
        return None
    signatures = map(signed, sorted(folder(Path(location)).glob("*.json")))
    return [signature for signature in signatures if signature and is_alive(signature)]


def is_alive(signature: Mapping[str, Any]) -> bool:
    """Whether the process that signed may still run: not if it was here and has ended."""
    if signature.get("host") != socket.gethostname() or "pid" not in signature:
        return True
    try:
        written = datetime.fromisoformat(str(signature["time"])).timestamp()
        return psutil.Process(int(signature["pid"])).create_time() <= written + CLOCK_SLACK
    except (psutil.Error, ValueError):
        return False


def _who(holder: Path) -> str:
    """Who holds a lock, and what to do; a holder that has just started may not have signed yet."""
    signature = signed(holder)
    if not signature:
        return "another process; wait until it has finished, or stop it"
    pid, host, since = (signature[key] for key in ("pid", "host", "time"))
    if (pid, host) == (os.getpid(), socket.gethostname()):
        cure = "wait until it has finished, or give another store"
        return f"another run in this process since {since}; {cure}"
    return (
        f"process {pid} on {host} since {since}; wait until it has finished, stop it "
        f"(`kill {pid}` there), or give another store"
    )

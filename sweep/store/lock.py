"""The locks of a store: next to it, never in it, and released when the holding process ends.

Every run first acquires the store's lock and looks at those of its shards. A whole run keeps the
store's lock; a shard of a job array releases it once it holds its own.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from sweep.errors import StoreError
from sweep.store.disk_faults import refuse_no_file, writing
from sweep.store.location import is_url

CLOCK_SLACK = 5.0  # s by which a process may seem younger than what it wrote: clocks are adjusted
MAX_START_SECONDS = 10.0  # shards that start at the same time wait for one another


@contextmanager
def held(store: Path, shard: str | None, clean: Callable[[], None]) -> Generator[None]:
    """Within, no other process and no other Store holds the store, or the shard; a file says who.

    `clean` is called first if no other shard is held, while none can start. Raises StoreError if
    the shard or the store is held, of a shard if the store is for longer than one takes to
    start. When a process dies, the operating system releases its lock.
    """
    folder, whole = _folder(store), store.with_name(f"{store.name}.lock")
    holder = folder / (f"{shard}.json" if shard else "holder.json")
    if shard is not None:
        with writing(folder):
            folder.mkdir(exist_ok=True)
    with ExitStack() as starting, ExitStack() as own:
        wait = MAX_START_SECONDS if shard else 0.0
        name = repr(str(store))
        starting.enter_context(_locked(whole, folder / "holder.json", name, wait))
        other = _held_shard(folder)
        if shard is not None:
            own.enter_context(_locked(folder / f"{shard}.lock", holder, f"{shard} of {name}"))
        elif other is not None:
            raise StoreError(f"{name}: {other.stem} is held by {_who(other.with_suffix('.json'))}")
        if other is None:
            clean()
        own.enter_context(_signing(holder))
        if shard is not None:
            starting.close()
        yield


def _folder(store: Path) -> Path:
    """The folder of signatures, shards' locks and receipts, next to the store."""
    return store.with_name(f"{store.name}.log")


@contextmanager
def _locked(path: Path, holder: Path, name: str, timeout: float = 0.0) -> Generator[None]:
    lock = FileLock(path, thread_local=False)
    with writing(path):
        refuse_no_file(path)
        try:
            lock.acquire(timeout=timeout, poll_interval=0.02)
        except Timeout:
            raise StoreError(f"{name} is held by {_who(holder)}") from None
    try:
        yield
    finally:
        lock.release()


def _held_shard(folder: Path) -> Path | None:
    """The lock of a shard that another process holds now, or None."""
    for path in sorted(folder.glob("shard-*.lock")):
        refuse_no_file(path)
        try:
            with _locked(path, path.with_suffix(".json"), path.stem):
                pass
        except StoreError:
            return path
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
    signatures = map(signed, sorted(_folder(Path(location)).glob("*.json")))
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

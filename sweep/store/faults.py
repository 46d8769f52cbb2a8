"""What went wrong with a path or a disk, as a sentence that says what to do."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sweep.dask_settings import unreadable_settings
from sweep.errors import MachineError, StoreError, SweepError

CURES = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some of your space, or ask for more",
    errno.EROFS: "the file system is read-only; mount it for writing, or choose another place",
    errno.EIO: "the disk reports an error; look into the machine's log before trusting it again",
    errno.EFBIG: "the file would be larger than this process may write; raise `ulimit -f`",
    errno.EACCES: "writing is not permitted; change the folder's permissions",
    errno.EPERM: "writing is not permitted; change the folder's permissions",
    errno.ESTALE: "the network file system has lost the file; wait until it is back",
    errno.EMFILE: "too many files are open; raise `ulimit -n`",
}
OF_THE_REQUEST = {errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG}


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Within, an OSError becomes a MachineError: finished chunks are kept, and how to go on."""
    try:
        yield
    except OSError as error:
        cure = CURES.get(error.errno or 0, f"{error}; see to that")
        raise MachineError(
            f"cannot write to {str(path)!r}: {cure}. Finished chunks are kept: "
            "run the same sweep again to go on"
        ) from error


@contextmanager
def creating(path: Path) -> Generator[None]:
    """Within, an OSError becomes a StoreError if the path is to blame, else a MachineError."""
    try:
        yield
    except OSError as error:
        cure = CURES.get(error.errno or 0, str(error))
        kind = StoreError if error.errno in OF_THE_REQUEST else MachineError
        raise kind(
            f"cannot make the store {str(path)!r}: {cure}, or name another store with -o"
        ) from error


@contextmanager
def reaching(url: str) -> Generator[None]:
    """Within, whatever a URL's file system raises becomes a SweepError that says what to do."""
    try:
        yield
    except SweepError:
        raise
    except ImportError as error:  # fsspec names the package to install
        raise StoreError(f"{url!r}: {error}") from error
    except ValueError as error:
        raise StoreError(f"{url!r}: {error}; see fsspec for the URLs there are") from error
    except NotImplementedError as error:  # as of http
        raise StoreError(
            f"{url!r} can be read, and not written to: fsspec has no way to for this kind of URL; "
            "name another store with -o"
        ) from error
    except Exception as error:  # each file system has kinds of its own
        raise MachineError(
            f"cannot reach {url!r} ({type(error).__name__}: {error}). See to its address, to the "
            "network and to your credentials; finished chunks are kept: run the same sweep again"
        ) from error


@contextmanager
def opening(path: object) -> Generator[None]:
    """Within, whatever goes wrong becomes a StoreError that says what to do."""
    try:
        yield
    except SweepError as error:
        raise StoreError(f"{str(path)!r}: {error}") from error
    except PermissionError as error:
        raise StoreError(f"cannot read {str(path)!r}: {error}; change its permissions") from error
    except Exception as error:  # zarr raises many kinds on a damaged zarr.json
        if found := unreadable_settings(error):  # xarray imports Dask
            raise found from error
        raise StoreError(
            f"{str(path)!r} cannot be read as a store ({type(error).__name__}: {error}); if this "
            "program made it, it is damaged. Name another store with -o, and keep this one until "
            "that is finished"
        ) from error


def refuse_what_is_no_store(path: Path) -> None:
    """StoreError with the reason and the cure, unless a folder with a zarr v3 group lies here."""
    if not path.exists():
        passes = path.with_name(f"{path.name}.passes")
        if passes.is_dir():
            last = max(passes.glob("[0-9]*.zarr"), key=lambda each: int(each.stem), default=passes)
            raise being_refined(str(path), str(last))
        near = get_close_matches(path.name, [p.name for p in path.parent.glob("*.zarr")], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`sweep run CONFIG -o STORE` makes one"
        raise StoreError(f"no store {str(path)!r}; {hint}")
    if not path.is_dir():
        raise StoreError(f"{str(path)!r} is a file, not a store; name another path")
    if (path / "zarr.json").exists():
        return
    if any((path / name).exists() for name in (".zgroup", ".zarray", ".zmetadata")):
        raise StoreError(f"{str(path)!r} is a zarr of format 2, not a store of this program")
    raise StoreError(f"{str(path)!r} is a folder but no store (no zarr.json); name another path")


def refuse_folder(file: str) -> None:
    """StoreError if that is no file but a folder: whatever is in it, is not ours to remove."""
    if Path(file).is_dir():
        raise StoreError(
            f"{file!r} is a folder where the file of a chunk belongs: move it elsewhere, and run "
            "the same sweep again to go on; finished chunks are kept"
        )


def gone(store: object) -> MachineError:
    """What to say of a store that is not there any more."""
    return MachineError(
        f"{str(store)!r} is gone, or was moved, while this run went on; move it back and run the "
        "same sweep again to go on with what it holds"
    )


def being_refined(store: str, last: str) -> StoreError:
    """What to say of a store whose passes have been begun, of which `last` is the last one."""
    return StoreError(
        f"{store!r} is not there yet: it is being refined, or was when that was stopped; "
        f"`sweep status {shlex.quote(last)}` tells how far its last pass is, and running the same "
        "sweep again goes on"
    )


def refuse_what_is_not_ours(attributes: Mapping[str, Any]) -> None:
    """StoreError if a zarr group with these attributes holds the results of no sweep."""
    if not {"recipe", "fingerprint", "revision"} <= set(attributes):
        raise StoreError("a zarr, but no store of this program; name another path")

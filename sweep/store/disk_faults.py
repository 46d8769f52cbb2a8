"""Errors of paths, disks and networks, and damage, as sentences that say how to go on."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sweep.errors import MachineError, PlaceError, StoreError, SweepError, machine_error
from sweep.store.location import is_url
from sweep.text.wording import UNREADABLE, install, special

CURES = {
    errno.ENOSPC: (
        "the disk is full; free some space, or if only its inodes are used up, use larger chunks "
        "(`chunk_points`) in a new store"
    ),
    errno.EDQUOT: "the disk quota is used up; free some of your space, or ask for more",
    errno.EROFS: "the file system is read-only; mount it for writing, or choose another place",
    errno.EIO: "the disk reports an error; look into the system log before you trust it again",
    errno.EFBIG: "the file would be larger than this process may write; raise `ulimit -f`",
    errno.EACCES: "writing is not permitted; change the permissions of this file or its folder",
    errno.EPERM: "writing is not permitted; change the permissions of this file or its folder",
    errno.ESTALE: "the network file system has lost the file; wait until it is back",
    errno.EEXIST: "a file stands where its folder has to be; move it elsewhere",
    errno.ENOTDIR: "a file stands where its folder has to be; move it elsewhere",
    errno.ENOLCK: (
        "files on this file system cannot be locked; switch locks on there (of NFS: start lockd, "
        "mount without nolock), or keep the store on another file system"
    ),
    errno.EMFILE: "too many files are open; raise `ulimit -n`",
}
FULL = {errno.ENOSPC, errno.EDQUOT}  # of a disk; other errors may be of one machine that has it
PATH_ERRORS = {errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG}
ORIGIN = "derived_from"  # an attribute of stores that are computed from the results of others
RESUME_HINT = "Finished chunks are kept: run the same sweep again to resume"


def writing(place: object, *, creating: bool = False) -> AbstractContextManager[None]:
    """Within, a failure of the disk or network becomes a MachineError that says how to continue.

    Where a store is made, it becomes a StoreError if the path is to blame. `place` is a path, a URL
    or the files there.
    """
    location = str(place)
    return reaching(location) if is_url(location) else _on_disk(Path(location), creating=creating)


@contextmanager
def _on_disk(path: Path, *, creating: bool) -> Generator[None]:
    try:
        yield
    except OSError as error:
        cure = _cure(error)
        if not creating:
            kind = PlaceError if error.errno in FULL else MachineError
            raise kind(f"cannot write to {str(path)!r}: {cure}. {RESUME_HINT}") from error
        kind = StoreError if error.errno in PATH_ERRORS else MachineError
        message = f"cannot make the store {str(path)!r}: {cure}, or give another store"
        raise kind(message) from error


@contextmanager
def making(path: Path) -> Generator[None]:
    """Within, a file other than a store's is written, whose folder is made.

    SweepError if the path is to blame or is that of a FIFO or a device, else MachineError.
    """
    if kind := special(path):
        raise SweepError(f"cannot write {str(path)!r}: it is {kind}; choose another path")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError, other: str = "another path") -> SweepError:
    """The error for a file other than a store's: of the request if the path is to blame."""
    is_path = error.errno in {*PATH_ERRORS, errno.EISDIR}
    if error.errno is None or (is_path and error.errno not in CURES):
        cure = error.strerror or str(error)
    else:
        cure = _cure(error)
    if "choose another" not in cure:
        cure += f"{', or' if '; ' in cure else ';'} choose {other}"
    return (SweepError if is_path else MachineError)(f"cannot write {str(path)!r}: {cure}")


@contextmanager
def reading(path: Path) -> Generator[None]:
    """Within, an OSError becomes a SweepError that names the file; it says nothing about damage.

    Errors that do say something pass: of a missing file, of a folder in its place, of a bad disk.
    """
    try:
        yield
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.EIO:
            raise
        file = repr(str(error.filename or path))
        if not isinstance(error, PermissionError):
            raise MachineError(f"cannot read {file}: {_cure(error)}") from error
        raise StoreError(f"cannot read {file}: {UNREADABLE}") from error


def refuse_device(file: Path) -> None:
    """Raise ValueError if there is a pipe or a device, from which reading might not end."""
    if special(file):
        raise ValueError(f"{str(file)!r} is not a regular file")


def _cure(error: OSError) -> str:
    """What is wrong and what to do about it."""
    return CURES.get(error.errno or 0, f"{error}; remove the cause")


@contextmanager
def reaching(url: str) -> Generator[None]:
    """Within, any error of a URL's file system becomes a SweepError that says what to do."""
    try:
        yield
    except SweepError:
        raise
    except ImportError as error:  # fsspec names the package to install
        cure = install("s3") if url.startswith(("s3:", "s3a:")) else "install it with pip"
        raise StoreError(
            f"{url!r} needs a Python package that is not installed ({error}): {cure}"
        ) from error
    except ValueError as error:
        raise StoreError(
            f"{url!r}: {error}; the documentation of fsspec lists the URLs that can be used"
        ) from error
    except NotImplementedError as error:  # what fsspec raises where it cannot write, as at http
        raise StoreError(
            f"{url!r} can be read but not written: fsspec cannot write to this kind of URL; "
            "give another store"
        ) from error
    except Exception as error:  # each file system has its own kinds
        raise MachineError(
            f"cannot reach {url!r} ({type(error).__name__}: {error}). Check the address, the "
            f"network and your credentials. {RESUME_HINT}"
        ) from error


@contextmanager
def opening(path: object) -> Generator[None]:
    """Within, any error becomes a StoreError that says what to do."""
    try:
        yield
    except MachineError:
        raise
    except SweepError as error:
        raise StoreError(f"{str(path)!r}: {error}") from error
    except Exception as error:  # zarr raises many kinds on a damaged zarr.json
        if known_error := machine_error(error) or dask_error(error):
            raise known_error from error
        raise StoreError(
            f"{str(path)!r} cannot be read as a store ({_damage(error)}). If this "
            "program made it, it is damaged: give another store, and keep this one until "
            "the other is finished"
        ) from error


def _damage(error: Exception) -> str:
    """What an error of zarr says about damage."""
    if isinstance(error, KeyError):
        return f"the description of {error.args[0]} is missing"
    if "checksum" in str(error):
        return "wrong checksum"
    return f"{type(error).__name__}: {error}"


def dask_error(error: Exception) -> MachineError | None:
    """The error to report if Dask, which xarray imports, cannot read a configuration file."""
    if not str(error).startswith("A dask config file"):
        return None
    return MachineError(f"{error}\ncorrect this Dask configuration file, or remove it")


@contextmanager
def intact(name: str, *, is_coordinate: bool = False, is_single: bool = False) -> Generator[None]:
    """Within, errors of reading a coordinate, an output or the status become a SweepError.

    A coordinate that `is_single` has one value.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as error:  # zarr's, on damage
        if is_coordinate:
            what = f"cannot be read ({_damage(error)})"
            store_error = damaged_coordinate(name, what, is_single=is_single)
        else:
            store_error = StoreError(
                f"{name} has a damaged chunk ({_damage(error)}). `sweep status --verify` names it; "
                "then running its sweep computes it again"
            )
        raise machine_error(error) or store_error from error


def damaged_coordinate(name: str, what: str, *, is_single: bool = False) -> StoreError:
    """The error for a coordinate with a part that is missing or cannot be read."""
    if is_single:
        return StoreError(
            f"the coordinate {name} {what}: it is damaged; run its sweep again to rebuild it from "
            "the recipe"
        )
    return StoreError(
        f"the coordinate {name} {what}: it is damaged, so some points of the sweep are no longer "
        "known; run the sweep in a new store"
    )


def no_store(path: str) -> StoreError:
    """The error for a path without a store."""
    near = _near_stores(Path(path))
    hint = f"did you mean {near[0]!r}?" if near else "`sweep run` makes one"
    return StoreError(f"no store {path!r}; {hint}")


def _near_stores(path: Path) -> list[str]:
    """The stores that may be meant, from the folder of the path: here, or where runs put them."""
    folder, ending = path.parent, "" if path.suffix == ".zarr" else ".zarr"
    names = [each.name for each in folder.glob("*.zarr")]
    names += [f"results/{each.name}" for each in folder.glob("results/*.zarr")]
    meant = [f"{path.name}{ending}", f"results/{path.name}{ending}"]
    return [name for name in meant if name in names] or get_close_matches(path.name, names, n=1)


def refuse_foreign_folder(path: Path) -> None:
    """Raise StoreError if something exists at a local path that is not a zarr of format 3."""
    if not path.is_dir():
        cure = f"`sweep run {shlex.quote(str(path))}` makes a store of it; name that"
        cure = cure if path.suffix == ".toml" else "name another path"
        raise StoreError(f"{str(path)!r} is a file, not a store; {cure}")
    with reading(path):
        names = {each.name for each in path.iterdir()}
    if "zarr.json" in names:
        return
    if {".zgroup", ".zarray", ".zmetadata"} & names:
        raise StoreError(f"{str(path)!r} is a zarr of format 2, not a store of this program")
    raise StoreError(f"{str(path)!r} is a folder but no store (no zarr.json); name another path")


def refuse_foreign_group(attributes: Mapping[str, Any]) -> None:
    """Raise StoreError if a zarr group with these attributes was made by another program."""
    if ORIGIN in attributes:
        raise StoreError(
            "computed from the results of another store, so there is nothing to run or to extend; "
            "`sweep show`, `sweep plot` and `sweep export` read it"
        )
    if not {"recipe", "fingerprint", "revision"} <= set(attributes):
        raise StoreError("a zarr, but no store of this program; name another path")


def refuse_no_file(place: str | Path) -> None:
    """Raise StoreError if a folder, a FIFO or a device is in the place of a file of the store.

    It does not belong to this program, and opening it may never end.
    """
    path = Path(place)
    if kind := "a folder" if path.is_dir() else special(path):
        raise StoreError(
            f"{str(path)!r} is {kind} in the place of a file of the store: move it elsewhere. "
            f"{RESUME_HINT}"
        )


def gone(store: object) -> MachineError:
    """The error for a store that was deleted or moved during a run."""
    return MachineError(
        f"{str(store)!r} was deleted or moved during the run; move it back and run the same sweep "
        "again to continue with what it holds"
    )

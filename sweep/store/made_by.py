"""Whether the code that made a store is that of this program, as sentences for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sweep.errors import StoreError
from sweep.request import Sweep
from sweep.source import is_token_digest, kernel_digest

if TYPE_CHECKING:
    from sweep.store.disk import Store


def other_revision(stored: int, sweep: Sweep) -> str:
    """A sentence if the sweep's method has another revision than the store's; else ""."""
    if sweep.method.revision == stored:
        return ""
    return (
        f"revision of method {sweep.method.name}: {stored} in the store, "
        f"{sweep.method.revision} in this program, whose results may have other last bits"
    )


def other_code(store: Store, sweep: Sweep) -> str:
    """A sentence if another revision or kernel than this program's made the store; else "".

    Stores of earlier versions have a digest of the raw text, or none: of those only the revision is
    compared.
    """
    if revised := other_revision(store.revision, sweep):
        return revised
    stored = store.kernel_digest
    if not is_token_digest(stored) or (digest := kernel_digest(store.sweep)) == stored:
        return ""
    return (
        f"kernel of method {store.sweep.method.name}: {stored} in the store, "
        f"{digest} in this program, whose results may differ"
    )


def refuse_other_code(store: Store, sweep: Sweep) -> None:
    """Raise StoreError if other code than this program's made the store."""
    if found := other_code(store, sweep):
        raise StoreError(
            f"{store.location!r} was made by other code: {found}. Use --accept-revision (or "
            "accept_revision = true under [run]) to continue anyway: the receipts then say which "
            "chunks the new code computed. Or name another store with -o, or continue with the "
            "version that made this one"
        )

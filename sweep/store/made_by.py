"""Whether the code that made a store is that of this program, as sentences for messages."""

from __future__ import annotations

from sweep.request import Sweep
from sweep.source import is_token_digest, kernel_digest


def other_revision(stored: int, sweep: Sweep) -> str:
    """A sentence if the sweep's method has another revision than the store's; else ""."""
    if sweep.method.revision == stored:
        return ""
    return (
        f"revision of method {sweep.method.name}: {stored} in the store, "
        f"{sweep.method.revision} in this program, whose results may have other last bits"
    )


def other_kernel(stored: object, sweep: Sweep) -> str:
    """A sentence if the sweep's kernel has another digest than the store's; else ""."""
    if not is_token_digest(stored) or (digest := kernel_digest(sweep)) == stored:
        return ""
    return (
        f"kernel of method {sweep.method.name}: {stored} in the store, "
        f"{digest} in this program, whose results may differ"
    )

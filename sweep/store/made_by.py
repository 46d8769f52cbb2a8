"""What a store was made by: its sweep, and the revision and the kernel of its method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sweep.errors import StoreError
from sweep.request import AnySweep
from sweep.source import is_token_digest, kernel_digest
from sweep.store.differences import differences


@dataclass(frozen=True)
class MadeBy:
    """What made a store, compared with this program."""

    location: str
    sweep: AnySweep
    revision: int  # of the method
    kernel_digest: object  # None if it is not known

    def differences(self, sweep: AnySweep, *, accept_revision: bool = False) -> list[str]:
        """One sentence for each difference between a sweep and the store's; none if it is that."""
        sentences = differences(self.sweep, sweep)
        if not sentences and not accept_revision and (revised := self.other_revision(sweep)):
            return [f"{revised} (use `accept_revision` to continue anyway)"]
        return sentences

    def other_revision(self, sweep: AnySweep) -> str:
        """A sentence if the sweep's method has another revision than the store's; else ""."""
        if sweep.points.method.revision == self.revision:
            return ""
        method = sweep.points.method
        return (
            f"revision of method {method.name}: {self.revision} in the store, {method.revision} in "
            "this program, whose results may have other last bits"
        )

    def other_code(self, sweep: AnySweep | None = None) -> str:
        """Which other revision or kernel than this program's made the store; "" if none did.

        Stores of earlier versions have a digest of the raw text, or none: of those only the
        revision is compared.
        """
        stored = self.kernel_digest
        if revised := self.other_revision(sweep or self.sweep):
            return revised
        if not is_token_digest(stored) or (digest := kernel_digest(self.sweep.points)) == stored:
            return ""
        return (
            f"kernel of method {self.sweep.points.method.name}: {stored} in the store, "
            f"{digest} in this program, whose results may differ"
        )

    def refuse_other_code(self, sweep: AnySweep | None = None) -> None:
        """Raise StoreError if this program has another revision or kernel of the store's method."""
        if revised := self.other_code(sweep):
            raise StoreError(
                f"{self.location!r} was made by other code: {revised}. Use `accept_revision`, "
                "or accept_revision = true under [run], to continue anyway: the receipts then say "
                "which chunks the new code computed. Or give another store, or continue with the "
                "version that made this one"
            )

    def accepted(self, sweep: AnySweep) -> Mapping[str, object]:
        """What receipts say of the code that continues the store; nothing if it made the store."""
        if not self.other_code(sweep):
            return {}
        return {
            "revision": sweep.points.method.revision,
            "kernel_digest": kernel_digest(self.sweep.points),
        }

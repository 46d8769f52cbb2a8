"""Crews of processes: which one is asked for, and those that stay for several runs."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager

from sweep.backends import Backend
from sweep.engine.crews import StayingCrew
from sweep.engine.ledger import Results
from sweep.options import RunOptions


class KeptCrew:
    """Processes that stay for several runs with the same options; entered and left as a context.

    They begin with the first run that has anything to do.
    """

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._crew: StayingCrew | None = None

    def __enter__(self) -> KeptCrew:
        return self

    def __exit__(self, *_: object) -> None:
        self._crew = None
        self._ends.close()

    @contextmanager
    def at_work_on(
        self, results: Results, begin: Callable[[], StayingCrew]
    ) -> Generator[StayingCrew]:
        """Within, they compute these results; those that `begin` gives, if there are none yet."""
        if self._crew is None:
            crew = begin()
            self._ends.enter_context(crew)
            self._crew = crew
        else:
            self._crew.turn_to(results)
        try:
            yield self._crew
        finally:
            self._crew.rest()


def process_crew(
    results: Results,
    open_backend: Callable[[str], Backend],
    options: RunOptions,
    tell: Callable[[str], None],
) -> StayingCrew:
    """The crew that `--cluster` or `--gpus` asks for; MachineError where it cannot be had."""
    if options.gpus is not None:
        from sweep.engine.gpus import open_gpus

        return open_gpus(results, open_backend, options, tell)
    from sweep.engine.clusters import open_crew

    return open_crew(results, open_backend, options, tell)

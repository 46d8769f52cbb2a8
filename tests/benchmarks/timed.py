"""Times of work to be compared, measured in turn so that all have the same noise."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from statistics import median


def cpu_seconds(work: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """The median processor time of each in this thread, in s.

    Each repetition begins with a different one, since earlier work affects clock and caches.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    names = deque(work)
    for _ in range(repeats):
        for name in names:
            began = time.thread_time()
            work[name]()
            times[name].append(time.thread_time() - began)
        names.rotate(-1)
    return {name: median(taken) for name, taken in times.items()}

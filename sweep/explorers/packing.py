"""Numbers as the text of a page."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def packed(data: bytes) -> str:
    """Bytes as text: deflated, base64."""
    return base64.b64encode(zlib.compress(data, 9, wbits=-15)).decode()


def shuffled(values: NDArray[Any]) -> bytes:
    """The bytes of values, all first bytes first: they compress better."""
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(values.size, values.dtype.itemsize).T.tobytes()


def plain(value: float) -> float | str:
    """A number as JSON has it; as text where it is not finite."""
    return float(value) if math.isfinite(value) else repr(float(value))


def packed_values(values: NDArray[np.float64]) -> dict[str, Any]:
    """The same bits: the recipe of evenly spaced values, otherwise all of them."""
    n = values.size
    if n > 2:
        even = np.arange(n) * ((values[-1] - values[0]) / (n - 1)) + values[0]
        even[-1] = values[-1]
        if even.tobytes() == values.tobytes():
            return {"linspace": [float(values[0]), float(values[-1]), n]}
    return {"doubles": packed(shuffled(values))}

"""Tables of realisations of random signals, which kernels read: their bounds, layout and filling."""

from __future__ import annotations

import ctypes

from sweep.kernel.library import fields_of


class ForcingRequest(ctypes.Structure):
    """The Forcing of forcing.h."""

    _fields_ = fields_of(
        "int64 stage samples harmonics elements realisations signal seed normal",
        "address draws amplitudes factor turns tables",
    )

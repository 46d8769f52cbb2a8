"""Relations inside others in derivatives, which change together, touch zero or rest there.

The states are sines, so that the expressions are known functions of time: references are means
over a fine grid of times, each jump off by one of its intervals at most.
"""

from __future__ import annotations

import numpy as np
import pytest

from sweep.model.table import Status
from tests.equations.examples import methods, points
from tests.equations.test_extremes import IN_NUMPY, PULSATIONS

END = 12.0
RAMP = ([0, 2, 4, 6, 8, 10, 12], [-1, 0, 0, 1, 0, 0, -1])  # times and values
GAPS = tuple(i / 20 for i in range(16))
EXPRESSIONS = (
    # The inner and the outer relation change together, where the outer one touches zero.
    "max(max(u0 - gap, gap - u0), 0)",
    "abs(max(u1 - gap, gap - u1))",
    "sign(min(abs(u1 - gap), 1))",
    "max(max(u1 - gap, 0) + max(gap - u1, 0), 0)",
    "where(min(abs(u1 - gap), 1) > 0, v0, 0)",
    "abs(where(u1 > gap, u1 - gap, 0) + where(u1 < gap, gap - u1, 0))",
    "sign(u1)*max(abs(u1) - gap, 0)",
    # They change together, and the outer one jumps.
    "abs(max(gap - u1, 0) + where(u1 > gap, 1, 0))",
    "sign(max(gap - u1, 0) + where(u1 > gap, 1, 0))",
    "abs(where(u1 > gap, 3*(u1 - gap) + v1, 0) + where(u1 < gap, 3*(gap - u1), 0))",
    "where(abs(u1 - gap) + where(u1 > gap, 1, 0) > 0, 1, 0)",
    # Of three, the one in the middle comes to rest.
    "min(where(where(u1 > gap, u0 + 2, 0) > 0, 1, -1), 0.5*u2)",
    "abs(where(where(u1 > gap, u0 + 2, 0) > 0, 1, -1) + 0.5*u2)",
    # A whole number at which the argument comes to rest.
    "floor(max(u0 - gap, 0))",
    "floor(2*max(u0 - gap, 0))",
    "floor(where(u1 > gap, u0, 0))",
    "floor(max(u0, 0) - max(u1, 0))",
    "floor(3*abs(u0) - max(u2, gap))",
    # A signal that rests at zero.
    "sign(ramp)",
    "where(ramp >= 0, u0, 0)",
    "floor(2*ramp)",
    "max(floor(u0 - 0.5*v2) + where(u0 > gap, sign(ramp), 0), 0)",
)


@methods("rk54", without="rk4")
def test_means_are_those_of_a_fine_grid(method: str) -> None:
    names = [f"y{i}" for i in range(len(EXPRESSIONS))]
    lines = [
        "[parameters]\ngap = {}",
        f"[signals]\nramp = {{ times = {RAMP[0]}, values = {RAMP[1]} }}\n[states]",
        *(
            f'u{i} = {{ initial = "0" }}\nv{i} = {{ initial = "{w}" }}'
            for i, w in enumerate(PULSATIONS)
        ),
        *(f'{name} = {{ initial = "0" }}' for name in names),
        "[derivatives]",
        *(f'u{i} = "v{i}"\nv{i} = "-{w}**2*u{i}"' for i, w in enumerate(PULSATIONS)),
        *(f'{name} = "{text}"' for name, text in zip(names, EXPRESSIONS, strict=True)),
        "[outputs]",
        *(f'end_{name} = {{ final = "{name}" }}' for name in names),
    ]
    along = {"gap": GAPS}
    ds = points("\n".join(lines), method, along, window_end=END, relative_tolerance=1e-8)
    assert (ds.status == Status.ok).all()
    t = (np.arange(400_000) + 0.5) * (END / 400_000)
    states = {"ramp": np.interp(t, *RAMP)}
    states |= {f"u{i}": np.sin(w * t) for i, w in enumerate(PULSATIONS)}
    states |= {f"v{i}": w * np.cos(w * t) for i, w in enumerate(PULSATIONS)}
    for k, gap in enumerate(GAPS):
        for name, text in zip(names, EXPRESSIONS, strict=True):
            mean = np.mean(eval(text, {}, {**IN_NUMPY, **states, "gap": gap}))
            assert float(ds[f"end_{name}"][k]) / END == pytest.approx(mean, abs=3e-4), (text, gap)

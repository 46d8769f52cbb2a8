"""Relations of sums of contacts' forces, which jump, and rest at zero while all contacts are open.

The contacts are driven by oscillators that nothing acts back on, so that the forces are known
functions of time. References are means over a fine grid of times: each jump is off by one of its
intervals at most.
"""

from __future__ import annotations

import numpy as np
import pytest

from sweep.model.table import Status
from tests.equations.examples import methods, points

END, N_TIMES = 12.0, 1_000_000
PULSATIONS = (1.0, 1.7, 2.3)
GAPS = np.arange(16) / 20
RELATIONS = {
    "size": ("abs({a})", lambda a, _: np.abs(a)),
    "pull": ("max({a}, 0)", lambda a, _: np.maximum(a, 0)),
    "direction": ("sign({a})", lambda a, _: np.sign(a)),
    "up": ("where({a} > 0, 1, 0)", lambda a, _: a > 0),
    "not_down": ("where({a} >= 0, 1, 0)", lambda a, _: a >= 0),
    "some": ("where({a} != 0, {b}, 0)", lambda a, b: np.where(a != 0, b, 0)),
    "lesser": ("min({a}, {b})", np.minimum),
    "both": ("sign({a})*abs({b})", lambda a, b: np.sign(a) * np.abs(b)),
}
CONTACTS = {  # a force over the displacement x, the speed v and the gap, as text and in NumPy
    "spring": (
        "where({x} > {g}, {k}*({x} - {g}), 0)",
        lambda x, _, g, k: np.where(x > g, k * (x - g), 0),
    ),
    "below": (
        "where({x} < -{g}, {k}*({x} + {g}), 0)",
        lambda x, _, g, k: np.where(x < -g, k * (x + g), 0),
    ),
    "push": ("{k}*max({x} - {g}, 0)", lambda x, _, g, k: k * np.maximum(x - g, 0)),
    "damped": (
        "where({x} > {g}, {k}*({x} - {g}) + {v}, 0)",
        lambda x, v, g, k: np.where(x > g, k * (x - g) + v, 0),
    ),
    "rigid": ("where({x} > {g}, {k}, 0)", lambda x, _, g, k: np.where(x > g, k, 0)),
}


def random_case(seed: int) -> tuple[str, dict[str, np.ndarray]]:
    """A model, and the means of its relations for each of GAPS."""
    random = np.random.default_rng(seed)
    t = (np.arange(N_TIMES) + 0.5) * (END / N_TIMES)
    sums: list[str] = []
    values = np.zeros((2, GAPS.size, N_TIMES), dtype=np.float32)
    for which, n in enumerate(random.integers(3, 9, 2)):
        terms: list[str] = []
        for _ in range(n):
            mode = random.integers(len(PULSATIONS))
            text, force = CONTACTS[random.choice(list(CONTACTS))]
            k = float(random.choice([-2, -1, 0.5, 1, 3]))
            share = float(random.integers(5, 15)) / 10
            omega = PULSATIONS[mode]
            terms.append(text.format(x=f"u{mode}", v=f"v{mode}", g=f"({share}*gap + 0.15)", k=k))
            x, v = np.sin(omega * t), omega * np.cos(omega * t)
            for i, gap in enumerate(GAPS):
                values[which, i] += force(x, v, share * gap + 0.15, k)
        sums.append(" + ".join(terms))
    states = [
        f'u{i} = {{ initial = "0" }}\nv{i} = {{ initial = "{w}" }}'
        for i, w in enumerate(PULSATIONS)
    ]
    rates = [f'u{i} = "v{i}"\nv{i} = "-{w}**2*u{i}"' for i, w in enumerate(PULSATIONS)]
    lines = [
        "[parameters]\ngap = {}\n[states]", *states,
        *(f'{name} = {{ initial = "0" }}' for name in RELATIONS),
        f'[definitions]\na = {{ value = "{sums[0]}" }}\nb = {{ value = "{sums[1]}" }}',
        "[derivatives]", *rates,
        *(f'{name} = "{text.format(a="a", b="b")}"' for name, (text, _) in RELATIONS.items()),
        "[outputs]", *(f'{name}_end = {{ final = "{name}" }}' for name in RELATIONS),
    ]  # fmt: skip
    means = {
        name: np.array([np.mean(function(*pair), dtype=float) for pair in values.swapaxes(0, 1)])
        for name, (_, function) in RELATIONS.items()
    }
    return "\n".join(lines), means


@methods("rk54", without="rk4")
@pytest.mark.parametrize("seed", range(4))
def test_random_sums(method: str, seed: int) -> None:
    text, means = random_case(seed)
    ds = points(text, method, {"gap": GAPS}, window_end=END, relative_tolerance=1e-8)
    assert (ds.status == Status.ok).all()
    for name, mean in means.items():
        np.testing.assert_allclose(ds[f"{name}_end"] / END, mean, rtol=0, atol=1e-4, err_msg=name)

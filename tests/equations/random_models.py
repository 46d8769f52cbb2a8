"""Random models as texts: states, modes and events, with expressions that stay finite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[str]], str]

# Where two parts are asked for, both are there; every value is finite.
SMOOTH = (
    "({a} + {b})", "({a} - {b})", "{a}*{b}", "-{a}", "{a}**2", "{a}**3", "{a}/(2 + {b}**2)",
    "sin({a})", "cos({a})", "atan({a})", "tanh({a})", "exp(-{a}**2)", "log(2 + {a}**2)",
    "sqrt(1 + {a}**2)", "asin(tanh({a})/2)", "acos(tanh({a})/2)", "sinh(tanh({a}))",
    "cosh(tanh({a}))", "asinh({a})", "acosh(2 + {a}**2)",
    "atanh(tanh({a})/2)", "tan(tanh({a}))", "atan2({a}, 1 + {b}**2)", "(1 + {a}**2)**-0.75",
)  # fmt: skip
KINKED = ("abs({a})", "min({a}, {b})", "max({a}, {b}, 0.1)", "hypot({a}, {b})",
          "where({a} < {b}, {a}, {b})")  # fmt: skip
JUMPING = ("sign({a})", "floor(3*{a})", "where({a} > 0 and not {b} > 0.5, {a}, 1)")
LEAVES = ("t", "p", "q", "pi", "0.5", "2", "1.25e-1")


@dataclass(frozen=True)
class RandomModel:
    """A model's text, and the expressions in it for an oracle."""

    text: str
    definition: str  # of `d`
    rates: tuple[tuple[str, ...], ...]  # mode, state
    starts: tuple[str, ...]
    integrand: str
    jumps: tuple[str, ...]  # s0 right after each acting event


def expressions(names: tuple[str, ...], forms: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Expressions of at most a dozen functions."""
    leaves = st.sampled_from((*LEAVES, *names))
    return st.recursive(
        leaves,
        lambda parts: st.builds(
            lambda form, a, b: form.format(a=f"({a})" if " " in a else a, b=f"({b})"),
            st.sampled_from(forms), parts, parts,
        ),
        max_leaves=6,
    )  # fmt: skip


@st.composite
def models(draw: Draw, forms: tuple[str, ...]) -> RandomModel:
    """A random model with one to three states, one or two modes and up to two acting events."""
    n = draw(st.integers(1, 3))
    states = tuple(f"s{i}" for i in range(n))
    definition = draw(expressions(states, forms))
    some = expressions((*states, "d"), forms)
    modes = ("one", "two")[: draw(st.integers(1, 2))]
    # Bounded rates: a state cannot run away.
    rates = tuple(tuple(f"2*sin({draw(some)}) - 0.5*{s}" for s in states) for _ in modes)
    starts = tuple(draw(st.sampled_from(("0", "0.25", "-p", "q/2", "sin(p)"))) for _ in states)
    integrand = draw(some)
    jump = draw(st.sampled_from(("0.1", "-0.3", "0.2*tanh(d)", "0.1*cos(3*t)")))
    lines = [
        'format = 1', 'name = "random"', 'time_unit = "1"', "[parameters]",
        'p = { unit = "1", meaning = "parameter" }', 'q = { unit = "1", meaning = "another" }',
        "[states]",
        *(f'{s} = {{ unit = "1", initial = "{start}", meaning = "state" }}'
          for s, start in zip(states, starts, strict=True)),
        "[definitions]", f'd = {{ value = "{definition}", unit = "1", meaning = "definition" }}',
    ]  # fmt: skip
    for mode, row in zip(modes, rates, strict=True):
        lines.append(f"[modes.{mode}]" if len(modes) > 1 else "[derivatives]")
        lines += [f'{s} = "{rate}"' for s, rate in zip(states, row, strict=True)]
    acting = draw(st.booleans())
    if acting:
        lines += ["[[events]]", 'name = "hit"', 'when = "s0 - 0.6"', 'direction = "rising"',
                  f'set = {{ s0 = "{jump}" }}']  # fmt: skip
        if len(modes) > 1:
            lines.append('then = "two"')
            lines += ["[[events]]", 'name = "back"', 'when = "s0 + 0.7"', 'direction = "falling"',
                      'in = "two"', 'set = { s0 = "-0.1" }', 'then = "one"']  # fmt: skip
    lines += ["[[events]]", 'name = "cross"', f'when = "{states[-1]} - 0.1"', 'direction = "both"']
    lines += [
        "[outputs]",
        *(f'{s}_end = {{ final = "{s}", unit = "1", meaning = "end" }}' for s in states),
        f'average = {{ mean = "{integrand}", unit = "1", meaning = "mean" }}',
        'largest = { maximum = "s0", unit = "1", meaning = "largest" }',
        'spread = { rms = "d", unit = "1", meaning = "root of the mean square" }',
        'above = { share = "s0 > 0.2", unit = "1", meaning = "share of time" }',
        'crossings = { count = "cross", meaning = "crossings" }',
        'recent = { values = "d", every = "cross", keep = 3, unit = "1", meaning = "last values" }',
    ]  # fmt: skip
    jumps = (jump, "-0.1")[: len(modes)] if acting else ()
    return RandomModel("\n".join(lines), definition, rates, starts, integrand, jumps)

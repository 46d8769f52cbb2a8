"""Random expressions as Python trees, their texts, and their values by the module `math`.

A tree is a number, a name, or (function or operator, arguments...).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

Tree = Any
Value = float | bool

NAMES = ("a", "b", "x", "v_1", "t", "pi")
CONDITIONS = ("stick", "slip")


def sign(x: float) -> float:
    return float((x > 0) - (x < 0))


def where(condition: bool, a: float, b: float) -> float:
    return a if condition else b


ONE: dict[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
                 "acosh", "atanh", "exp", "log", "sqrt")
}  # fmt: skip
ONE |= {"abs": abs, "sign": sign, "floor": lambda x: float(math.floor(x))}
TWO: dict[str, Callable[..., float]] = {"atan2": math.atan2, "hypot": math.hypot}
MANY: dict[str, Callable[..., float]] = {"min": min, "max": max}
FUNCTIONS: dict[str, Callable[..., float]] = {**ONE, **TWO, **MANY, "where": where}
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: real(a**b),
}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def real(x: Any) -> float:
    if isinstance(x, complex):
        raise ValueError("a power of a negative number")
    return float(x)


def value_of(tree: Tree, names: Mapping[str, Value]) -> Value:
    """The value of a tree; ArithmeticError or ValueError where there is none."""
    if isinstance(tree, (int, float)):
        return float(tree)
    if isinstance(tree, str):
        return names[tree]
    function, *parts = tree
    values = [value_of(part, names) for part in parts]
    if function == "and":
        return all(values)
    if function == "or":
        return any(values)
    if function == "not":
        return not values[0]
    if function == "negative":
        return -values[0]
    return {**ARITHMETIC, **COMPARISONS, **FUNCTIONS}[function](*values)


def python_value(text: str, names: Mapping[str, Value]) -> Value:
    """The value that Python gives to a text."""
    return eval(text, {"__builtins__": {}, **FUNCTIONS}, dict(names))


def text_of(tree: Tree, bare: Callable[[], bool] = lambda: False) -> str:
    """The tree's text, with parentheses around every operation but those that `bare` picks.

    Without those parentheses, the text may stand for another tree.
    """
    if isinstance(tree, str):
        return tree
    if isinstance(tree, (int, float)):
        return repr(tree)
    function, *parts = tree
    texts = [text_of(part, bare) for part in parts]
    if function in FUNCTIONS:
        return f"{function}({', '.join(texts)})"
    if function == "negative":
        text = f"-{texts[0]}"
    elif function == "not":
        text = f"not {texts[0]}"
    else:
        text = f" {function} ".join(texts)
    return text if bare() else f"({text})"


def trees(names: tuple[str, ...] = NAMES, depth: int = 4) -> st.SearchStrategy[Tree]:
    """Numbers."""
    leaf = st.one_of(
        st.sampled_from(names),
        st.integers(0, 20),
        st.floats(0, 1e6, allow_subnormal=False),
        st.sampled_from([0.5, 1e-300, 1e300, 2.5e-7]),
    )
    if depth == 0:
        return leaf
    below = trees(names, depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(list(ARITHMETIC)), below, below),
        st.tuples(st.just("negative"), below),
        st.tuples(st.sampled_from(list(ONE)), below),
        st.tuples(st.sampled_from(list(TWO)), below, below),
        st.builds(
            lambda f, parts: (f, *parts),
            st.sampled_from(list(MANY)),
            st.lists(below, min_size=2, max_size=3),
        ),
        st.tuples(st.just("where"), conditions(names, depth - 1), below, below),
    )


def conditions(names: tuple[str, ...] = NAMES, depth: int = 3) -> st.SearchStrategy[Tree]:
    leaf = st.sampled_from(CONDITIONS)
    if depth == 0:
        return leaf
    number, below = trees(names, depth - 1), conditions(names, depth - 1)
    return st.one_of(
        leaf,
        st.tuples(st.sampled_from(list(COMPARISONS)), number, number),
        st.tuples(st.sampled_from(["and", "or"]), below, below),
        st.tuples(st.just("not"), below),
    )

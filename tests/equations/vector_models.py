"""Random models over indices, each written twice: with indices, and by hand for every element."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LABELS = ("lower", "middle", "upper")
Text = Callable[[int], str]  # of the element with a number


@dataclass(frozen=True)
class Part:
    """An expression for one element: as the file writes it, and as it is for each by hand."""

    written: str
    by_hand: Text

    def joined(self, sign: str, other: Part) -> Part:
        return Part(
            f"({self.written} {sign} {other.written})",
            lambda i: f"({self.by_hand(i)} {sign} {other.by_hand(i)})",
        )

    def inside(self, function: str) -> Part:
        return Part(f"{function}({self.written})", lambda i: f"{function}({self.by_hand(i)})")


@dataclass(frozen=True)
class VectorModel:
    """The two texts, and the number of elements."""

    written: str
    by_hand: str
    size: int


def pairwise(texts: Sequence[str], form: str) -> str:
    """The texts joined by a binary tree: left parts as large as a power of two allows."""
    if len(texts) == 1:
        return texts[0]
    half = 1
    while 2 * half < len(texts):
        half *= 2
    return form.format(pairwise(texts[:half], form), pairwise(texts[half:], form))


REDUCTIONS = {
    "sum": "({} + {})",
    "product": "({}*{})",
    "minimum": "min({}, {})",
    "maximum": "max({}, {})",
}


def vector_model(seed: int, *, labelled: bool) -> VectorModel:
    """A random model of 1 to 5 elements, with two states, a table and two events for each."""
    rng = random.Random(seed)
    size = 3 if labelled else rng.randint(1, 5)
    names = LABELS if labelled else tuple(map(str, range(size)))
    numbers = [round(rng.uniform(-1, 1), 3) for _ in range(size)]

    def name(text: str) -> Part:
        return Part(text, lambda i: f"{text}_{names[i]}")

    def shifted(text: str, by: int) -> Part:
        guard = "k < size(k) - 1" if by > 0 else "k > 0"
        sign = "+" if by > 0 else "-"
        return Part(
            f"where({guard}, {text}[k {sign} 1], 0.25)",
            lambda i: f"{text}_{names[i + by]}" if 0 <= i + by < size else "0.25",
        )

    def first(text: str) -> Part:
        place = names[0] if labelled else "size(k) - size(k)"
        return Part(f"{text}[{place}]", lambda _: f"{text}_{names[0]}")

    def chosen(a: Part, b: Part) -> Part:
        condition = f"k == {names[-1]}" if labelled else f"k >= {size - 1} and not k < 0"
        return Part(
            f"where({condition}, {a.written}, {b.written})",
            lambda i: (a if i == size - 1 else b).by_hand(i),
        )

    def reduced(function: str, body: Part) -> Part:
        texts = [body.by_hand(j) for j in range(size)]
        return Part(
            f"{function}(k, {body.written})", lambda _: pairwise(texts, REDUCTIONS[function])
        )

    def number(value: float) -> str:
        return repr(value) if value >= 0 else f"(-{-value!r})"

    leaves = [
        lambda: name(rng.choice("xy")), lambda: name("c"), lambda: first("x"),
        lambda: shifted(rng.choice("xy"), rng.choice((1, -1))), lambda: Part("t", lambda _: "t"),
        lambda: Part("w", lambda i: number(numbers[i])), lambda: Part("k", lambda i: str(i)),
        lambda: Part("size(k)", lambda _: str(size)), lambda: Part("p", lambda _: "p"),
    ]  # fmt: skip

    def part(depth: int) -> Part:
        if depth == 0 or rng.random() < 0.2:
            return rng.choice(leaves)()
        kind = rng.randrange(5)
        if kind < 2:
            return part(depth - 1).joined(rng.choice("+-*"), part(depth - 1))
        if kind == 2:
            return part(depth - 1).inside(rng.choice(("sin", "tanh", "atan")))
        if kind == 3:
            return reduced(rng.choice(tuple(REDUCTIONS)), part(depth - 1))
        return chosen(part(depth - 1), part(depth - 1))

    definition, rates = part(3), [part(3), part(3)]
    leaves += [lambda: name("d")]
    after, seen = part(2), part(2)
    total = reduced("sum", part(2))
    index = f"k = {list(LABELS)}".replace("'", '"') if labelled else f"k = {size}"
    written = f"""
format = 1
name = "vectors"
time_unit = "1"
[indices]
{index}
[tables]
w = {{ over = "k", values = {numbers} }}
[parameters]
p = {{ default = 0.4 }}
c = {{ over = "k", default = 0.7 }}
[states]
x = {{ over = "k", initial = "0.5*w + 0.1*k" }}
y = {{ over = "k", initial = "c*p" }}
[definitions]
d = {{ over = "k", value = "{definition.written}" }}
[derivatives]
x = "sin({rates[0].written}) - 0.5*x"
y = "2*cos(t)*tanh({rates[1].written}) - 0.5*y"
[[events]]
name = "hit"
over = "k"
when = "x - 0.3"
direction = "both"
set = {{ y = "tanh({after.written})" }}
[[events]]
name = "turn"
over = "k"
only = "k < size(k) - 1 or size(k) == 1"
when = "y"
direction = "rising"
[outputs]
ends = {{ over = "k", final = "x" }}
means = {{ over = "k", mean = "{seen.written}" }}
hits = {{ over = "k", count = "hit" }}
passes = {{ over = "k", count = "turn" }}
both = {{ count = "hit" }}
one = {{ count = "hit[0]" }}
total = {{ mean = "{total.written}" }}
kept = {{ over = "k", values = "x", every = "turn", keep = 2 }}
"""
    every = range(size)

    def lines(form: str, of: Text | None = None) -> str:
        texts = [of(i) if of else "" for i in every]
        return "\n".join(form.format(n=names[i], text=texts[i], i=i) for i in every)

    passing = [i for i in every if i < size - 1 or size == 1]
    events = "".join(
        f'[[events]]\nname = "hit_{names[i]}"\nwhen = "x_{names[i]} - 0.3"\ndirection = "both"\n'
        f'set = {{ y_{names[i]} = "tanh({after.by_hand(i)})" }}\n'
        for i in every
    ) + "".join(
        f'[[events]]\nname = "turn_{names[i]}"\nwhen = "y_{names[i]}"\ndirection = "rising"\n'
        for i in passing
    )
    kept = "\n".join(
        f'kept_{names[i]} = {{ values = "x_{names[i]}", every = "turn_{names[i]}", keep = 2 }}\n'
        f'passes_{names[i]} = {{ count = "turn_{names[i]}" }}'
        for i in passing
    )
    by_hand = f"""
format = 1
name = "vectors"
time_unit = "1"
[parameters]
p = {{ default = 0.4 }}
{lines("c_{n} = {{ default = 0.7 }}")}
[states]
{lines('x_{n} = {{ initial = "0.5*{text} + 0.1*{i}" }}', lambda i: number(numbers[i]))}
{lines('y_{n} = {{ initial = "c_{n}*p" }}')}
[definitions]
{lines('d_{n} = {{ value = "{text}" }}', definition.by_hand)}
[derivatives]
{lines('x_{n} = "sin({text}) - 0.5*x_{n}"', rates[0].by_hand)}
{lines('y_{n} = "2*cos(t)*tanh({text}) - 0.5*y_{n}"', rates[1].by_hand)}
{events}
[outputs]
{lines('ends_{n} = {{ final = "x_{n}" }}')}
{lines('means_{n} = {{ mean = "{text}" }}', seen.by_hand)}
{lines('hits_{n} = {{ count = "hit_{n}" }}')}
total = {{ mean = "{total.by_hand(0)}" }}
{kept}
"""
    return VectorModel(written, by_hand, size)

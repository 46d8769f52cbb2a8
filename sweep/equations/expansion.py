"""Expands indices: a model as written, with names over indices, becomes one of scalar names.

`x` over `block` becomes `x[0]`, `x[1]`, ... Trees of expressions are expanded, so that columns in
messages are those of the file. A sum over an index is a binary tree of pairs, as in
sweep/statistics/tree.py: the older halves are as large as a power of two allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sweep.equations.expressions import ONE, ZERO, Call, Expression, Name, Number, cut, rational
from sweep.equations.functions import COMPARISONS, REDUCTIONS, SUBSCRIPT, literal
from sweep.equations.model_indices import Index, NumberTable
from sweep.errors import FaultError
from sweep.model.elements import element
from sweep.text.wording import nearest, written

MAX_EXPANDED = 20_000  # parts of an expression
MAX_IN_ALL = 1_000_000  # parts of all expressions
LARGEST = 2**53
Places = Mapping[str, int]  # the value that each index has in a line

COMPARE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": Fraction.__lt__,
    "<=": Fraction.__le__,
    ">": Fraction.__gt__,
    ">=": Fraction.__ge__,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
STEPS: Mapping[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "abs": lambda values: abs(values[0]),
    "floor": lambda values: Fraction(math.floor(values[0])),
    "sign": lambda values: Fraction((values[0] > 0) - (values[0] < 0)),
    "min": min,
    "max": max,
}


@dataclass(eq=False)
class Expander:
    """Replaces indices in expressions by their values."""

    indices: Mapping[str, Index]
    over: Mapping[str, Sequence[str]]  # the indices of each name that has some
    tables: Mapping[str, NumberTable]
    names: frozenset[str]  # all other names that expressions may have
    lines: frozenset[str]  # names of outputs, events and holds, which expressions do not have
    has_numbers: bool = False  # whether numbers of tables replace their names
    _parts: int = field(default=0, init=False)
    _in_all: int = field(default=0, init=False)
    _numbers: dict[str, float] = field(default_factory=dict[str, float], init=False)

    def __post_init__(self) -> None:
        for name, table in self.tables.items() if self.has_numbers else ():
            self._numbers |= dict(zip(self.elements(name), table.values, strict=True))

    def elements(self, name: str) -> list[str]:
        """The names of all elements of a name, in C order; the name itself if it has no index."""
        names: list[tuple[str, ...]] = [()]
        for index in self.over.get(name, ()):
            names = [(*each, place) for each in names for place in self.indices[index].places]
        return [element(name, each) if each else name for each in names]

    def named(self, name: str, places: Places) -> str:
        """The element of a name where the indices have these values."""
        over = self.over.get(name, ())
        labels = [self.indices[index].places[places[index]] for index in over]
        return element(name, labels) if over else name

    def expanded(self, expression: Expression, places: Places) -> Expression:
        """The expression of scalar names; FaultError, with the column, if there is none."""
        self._in_all += self._parts
        self._parts = 0 if self._in_all < MAX_IN_ALL else MAX_EXPANDED
        return self._expanded(expression, places)

    def target(self, text: Expression, places: Places) -> str:
        """The element that `v` or `v[block + 1]` names in `set` or as an event."""
        if isinstance(text, Name) and text.name in self.over:
            name = self._element(text, places)
        else:
            name = self._expanded(text, places)
        assert isinstance(name, Name)
        return name.name

    def decided(self, condition: Expression, places: Places) -> bool:
        """Whether a condition of indices holds; FaultError if it has other names."""
        value = self._decided(condition, places)
        if value is None:
            cure = "write it with indices, numbers, labels and size(...)"
            what = f"{cut(condition)} is not decided by indices alone"
            raise _fault(condition, what, cure)
        return value

    def _expanded(self, part: Expression, places: Places) -> Expression:
        self._parts += 1
        if self._parts > MAX_EXPANDED:
            what = f"more than {MAX_EXPANDED:,} parts when its indices are expanded"
            raise FaultError(what, "use [definitions] with over")
        match part:
            case Number():
                return part
            case Name(name) if name in self.indices:
                return Number(float(self._place(part, name, places)), part.column)
            case Name(name) if name not in self.lines:
                return self._element(part, places)
            case Name():  # perhaps a value of a switch, which an output may be called, too
                return part
            case Call("[]", (Name(name), *subscripts)):
                return self._subscripted(part, name, subscripts, places)
            case Call("size", (Name(name),)):
                return Number(float(self._index(part, name).size), part.column)
            case Call(function, (Name(name), body)) if function in REDUCTIONS:
                index = self._index(part, name)
                each = [self._expanded(body, {**places, name: k}) for k in range(index.size)]
                return _tree(REDUCTIONS[function], each, part.column)
            case Call("where", (condition, a, b)):
                value = self._decided(condition, places)
                if value is not None:
                    return self._expanded(a if value else b, places)
            case Call("and" | "or" as function, arguments):
                return self._joined(part, function, arguments, places)
            case Call(function) if function in COMPARISONS or function == "not":
                value = self._decided(part, places)
                if value is not None:
                    return _condition(value, part.column)
            case _:
                pass
        arguments = tuple(self._expanded(each, places) for each in part.arguments)
        return Call(part.function, arguments, part.column)

    def _element(self, part: Name, places: Places) -> Expression:
        """The element of a name that has the indices of its line."""
        return self._named(part, [self._bound(part, i, places) for i in self.over_of(part.name)])

    def over_of(self, name: str) -> Sequence[str]:
        """The indices of a name; none if it has none."""
        return self.over.get(name, ())

    def _named(self, part: Expression, places: Sequence[int], name: str = "") -> Expression:
        """The element at these places of the name that a part is, or that is given."""
        name = name or (part.name if isinstance(part, Name) else "")
        over = self.over_of(name)
        labels = [self.indices[i].places[place] for i, place in zip(over, places, strict=True)]
        named = element(name, labels) if over else name
        if named in self._numbers:
            return literal(self._numbers[named])
        return Name(named, part.column)

    def _index(self, part: Expression, name: str) -> Index:
        if name not in self.indices:
            raise _fault(part, f"{written(name)} is not an index", nearest(name, self.indices))
        return self.indices[name]

    def _place(self, part: Expression, name: str, places: Places) -> int:
        if name not in places:
            cure = f'give the line over = "{name}", or write sum({name}, ...)'
            raise _fault(part, f"the index {name!r} has no value here", cure)
        return places[name]

    def _bound(self, part: Name, index: str, places: Places) -> int:
        """The value of an index of a name without subscripts."""
        if index not in places:
            others = ", ".join(self.over[part.name])
            cure = f'give the line over = "{index}", or write {part.name}[...] or sum({index}, ...)'
            what = f"{part.name!r} has the index {others}, and {index} has no value here"
            raise _fault(part, what, cure)
        return places[index]

    def _subscripted(
        self, part: Call, name: str, subscripts: Sequence[Expression], places: Places
    ) -> Expression:
        over = self.over_of(name)
        if not over:
            what = f"{written(name)} has no index" if name in self.names else ""
            what = what or f"{written(name)} is unknown"
            cure = 'give it over = "..."' if name in self.names else nearest(name, self.over)
            raise _fault(part, what, cure)
        if len(subscripts) != len(over):
            what = f"{name} has the indices {', '.join(over)}, and there are {len(subscripts)}"
            raise _fault(part, what, f"write {name}[{', '.join(over)}]")
        chosen = [
            self._chosen(name, self.indices[index], each, places)
            for index, each in zip(over, subscripts, strict=True)
        ]
        return self._named(part, chosen, name)

    def _chosen(self, name: str, index: Index, subscript: Expression, places: Places) -> int:
        """The place along an index that a subscript names."""
        if isinstance(subscript, Name) and subscript.name in index.labels:
            return index.labels.index(subscript.name)
        value = self._value(subscript, places)
        if value is None or value.denominator != 1:
            what = f"{name}[{cut(subscript)}]: no whole number of indices"
            cure = f"write {index.name} + 1 or a number"
            if index.labels:
                word = subscript.name if isinstance(subscript, Name) else ""
                cure = f"{cure}, or a label: {nearest(word, index.labels)}"
            raise _fault(subscript, what, cure)
        if not 0 <= value < index.size:
            last = index.places[-1]
            what = f"{name}[{value}] does not exist: {index.name} ends at {last}"
            if value < 0:
                what = f"{name}[{value}] does not exist: {index.name} begins at 0"
            cure = f"guard it, as in where({index.name} < size({index.name}) - 1, ..., 0)"
            raise _fault(subscript, what, cure)
        return int(value)

    def _joined(
        self, part: Call, function: str, arguments: Sequence[Expression], places: Places
    ) -> Expression:
        """`and` or `or` without the parts that indices decide, which may decide it."""
        ends = function == "or"
        values = [self._decided(each, places) for each in arguments]
        if ends in values or None not in values:
            return _condition(ends if ends in values else not ends, part.column)
        left = [e for e, value in zip(arguments, values, strict=True) if value is None]
        kept = tuple(self._expanded(each, places) for each in left)
        return kept[0] if len(kept) == 1 else Call(function, kept, part.column)

    def _decided(self, condition: Expression, places: Places) -> bool | None:
        """Whether a condition of indices, numbers and labels holds; None if it has other names."""
        match condition:
            case Call("not", (argument,)):
                value = self._decided(argument, places)
                return None if value is None else not value
            case Call("and" | "or" as function, arguments):
                values = [self._decided(each, places) for each in arguments]
                ends = function == "or"
                return ends if ends in values else None if None in values else not ends
            case Call(function, (a, b)) if function in COMPARE:
                left, right = self._side(a, b, places), self._side(b, a, places)
                if left is None or right is None:
                    return None
                return COMPARE[function](left, right)
            case _:
                return None

    def _side(self, part: Expression, other: Expression, places: Places) -> Fraction | None:
        """The value of one side of a comparison, which may be a label of the other, an index."""
        if isinstance(part, Name) and isinstance(other, Name) and other.name in self.indices:
            labels = self.indices[other.name].labels
            if part.name in labels:
                return Fraction(labels.index(part.name))
            if part.name not in self.indices and part.name not in self.names and labels:
                what = f"{written(part.name)} is not a label of {other.name}"
                raise _fault(part, what, nearest(part.name, labels))
        return self._value(part, places)

    def _value(self, part: Expression, places: Places) -> Fraction | None:
        """The exact value of an expression of indices and numbers; None if it is none."""
        match part:
            case Name(name) if name in self.indices:
                return Fraction(self._place(part, name, places))
            case Call("size", (Name(name),)):
                return Fraction(self._index(part, name).size)
            case Call(function, arguments) if function not in (SUBSCRIPT, *REDUCTIONS):
                values = [self._value(each, places) for each in arguments]
                numbers = [each for each in values if each is not None]
                if len(numbers) < len(values):
                    return None
                if function in STEPS:
                    return STEPS[function](numbers)
                return _exact(function, numbers)
            case _:
                return rational(part)


def _exact(function: str, numbers: Sequence[Fraction]) -> Fraction | None:
    """The value of + - * / ** and unary minus, whose numbers need not be decimal."""
    simple: Mapping[str, Callable[..., Fraction]] = {
        "+": Fraction.__add__,
        "-": Fraction.__sub__,
        "*": Fraction.__mul__,
        "negative": Fraction.__neg__,
    }
    if function in simple:
        return simple[function](*numbers)
    if function == "/":
        return numbers[0] / numbers[1] if numbers[1] else None
    if function == "**" and all(e.denominator == 1 and abs(e) <= LARGEST for e in numbers):
        whole = tuple(literal(float(each)) for each in numbers)
        return rational(Call("**", whole))
    return None


def _tree(function: str, parts: Sequence[Expression], column: int) -> Expression:
    """The parts joined in pairs."""
    if len(parts) == 1:
        return parts[0]
    half = 1 << ((len(parts) - 1).bit_length() - 1)
    halves = (_tree(function, parts[:half], column), _tree(function, parts[half:], column))
    return Call(function, halves, column)


def _condition(value: bool, column: int) -> Expression:
    """A condition that always holds, or never."""
    return Call("<", (ZERO, ONE) if value else (ONE, ZERO), column)


def _fault(part: Expression, what: str, cure: str) -> FaultError:
    return FaultError(f"column {part.column}: {what}", cure)

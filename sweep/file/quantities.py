"""Numbers in sweep files: in SI units, or text with a unit; lists of them in a range."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from sweep.errors import FaultError, warn
from sweep.model.table import Parameter
from sweep.request.chunk import Values
from sweep.text.units import AMOUNT, UNIT_PATTERN, Unit, read_unit, rewritten, scaled
from sweep.text.wording import written

FULL_TURN = 2 * math.pi * (1 + 1e-12)  # rad
MAX_TEXT_LENGTH = 80  # of a quantity: the patterns below take quadratic time
MAX_SHOWN = 3  # wrong entries of a list
BARE_POINT = re.compile(r"(?<![\w.])\.[0-9]|[0-9]\.(?![0-9])")  # .5 or 5.
POINT_CURE = "TOML needs a digit on both sides of the point: write 0.5"
_SEVERAL = re.compile(rf"{AMOUNT}(?:, *{AMOUNT})+")
_QUANTITY = re.compile(rf"({AMOUNT})\s*({UNIT_PATTERN})?")


def number(value: object, parameter: Parameter) -> float:
    """The value of a parameter as a number in SI units.

    It is finite, or inf if the parameter allows that; FaultError otherwise. A negative zero is
    returned as zero, so that equal sweeps have equal bits. A FaultError in place of a value, which
    says why it could not be read, is raised.
    """
    if isinstance(value, FaultError):
        raise value
    if isinstance(value, str):
        is_inf = parameter.infinite and value.strip() == "inf"  # `--set name=inf` in a shell
        amount = math.inf if is_inf else _in_si(value.strip(), parameter)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            amount = float(value)
        except OverflowError:
            amount = math.inf
    else:
        raise FaultError(f"{written(value)} is not a number", _expected(parameter))
    if not (math.isfinite(amount) or (parameter.infinite and amount == math.inf)):
        raise FaultError(f"{written(value)} is not a finite number", _expected(parameter))
    return amount + 0.0


def warn_of_turns(values: Iterable[object], parameter: Parameter) -> None:
    """Warn of the first of these values that is an angle without a unit beyond a full turn."""
    if parameter.unit != "rad":
        return
    for value in values:
        if isinstance(value, (int, float)) and FULL_TURN < abs(value) < math.inf:
            cure = f'write "{value:g} deg" if degrees are meant, or "{value:g} rad"'
            warn(f"{parameter.name} = {value:g} is in rad and more than a full turn; {cure}")
            return


def amount(value: object, parameter: Parameter) -> float:
    """The value of a parameter as a number in SI units and in its range."""
    quantity = number(value, parameter)
    warn_of_turns([value], parameter)
    refuse_outside(np.array([quantity]), parameter, lambda _: f"{written(value)} is out of range")
    return quantity


def as_written(text: str) -> float | str:
    """The number that a text is, or the text, which may have a unit."""
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text


def has_unit(text: str) -> bool:
    """Whether a text is a number followed by what looks like a unit."""
    match = _QUANTITY.fullmatch(text) if len(text) <= MAX_TEXT_LENGTH else None
    return match is not None and match[2] is not None


def in_range(entries: Sequence[tuple[str, object]], parameter: Parameter) -> Values:
    """The entries (name for messages, value) as numbers in the parameter's range.

    A value may be a FaultError, which says why the entry could not be read.
    """
    values: dict[int, float] = {}
    wrong: list[tuple[str, FaultError]] = []
    for index, (name, entry) in enumerate(entries):
        try:
            values[index] = number(entry, parameter)
        except FaultError as error:
            wrong.append((name, error))
    numbers, indices = np.array([*values.values()], dtype=np.float64), [*values]
    if (outside := parameter.first_outside(numbers)) is not None:
        name, entry = entries[indices[outside]]
        cure = f"it has to be {parameter.requirement}"
        wrong.append((name, FaultError(f"{written(entry)} is out of range", cure)))
    if wrong:
        raise together(wrong)
    warn_of_turns((entry for _, entry in entries), parameter)
    return numbers


def together(wrong: Sequence[tuple[str, FaultError]]) -> FaultError:
    """One fault of several named entries, of which three are shown."""
    listed = wrong[:MAX_SHOWN]
    messages = [f"{name}: {error.what}" if name else error.what for name, error in listed]
    cures = [error.cure for _, error in listed]
    more = [f"and {len(wrong) - MAX_SHOWN} more"] if len(wrong) > MAX_SHOWN else []
    if len({*cures}) == 1:
        return FaultError("; ".join([*messages, *more]), cures[0])
    cured = [
        f"{what} ({cure})" if cure else what for what, cure in zip(messages, cures, strict=True)
    ]
    return FaultError("; ".join([*cured, *more]))


def needs_conversion(unit: str, parameter: Parameter, column: str) -> bool:
    """Whether numbers in the unit of a column differ from those in the parameter's SI unit.

    FaultError, which shows the head of the column, if it has no unit of that dimension.
    """
    if not has_unit(f"1 {unit}"):
        plain = rewritten(f"1 {unit}")[2:] if len(unit) <= MAX_TEXT_LENGTH else ""
        cure = f"write [{plain}]" if plain else "write a unit such as [mm], [m/s^2] or [1]"
        raise FaultError(f"{written(column)} has no unit in its brackets", cure)
    source, target = _unit(column, unit), read_unit(parameter.unit)
    if source.dimensions != target.dimensions:
        units = dict.fromkeys([parameter.unit, parameter.unit.replace("rad", "turn")])
        choices = " or ".join(f"[{each}]" for each in units)
        cure = f"write {choices}, or another unit of {parameter.name}"
        raise FaultError(f"{written(column)} has the wrong dimension", cure)
    return source.factor != target.factor


def value_of(text: str) -> object:
    """The value that a text gives in `name=value`, in a shell or from Python: of TOML, or a text.

    A number may lack the digit before or after its point, and text its quotes.
    """
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        parsed = {}
    if list(parsed) == ["value"]:
        return parsed["value"]
    if re.fullmatch(AMOUNT, text):
        return float(text)
    if text == "" or text[0] in "[{\"'" or not text.isprintable():
        cure = POINT_CURE if BARE_POINT.search(text) else 'write 0.5, "text" or [1, 2]'
        raise FaultError(f"{written(text)} is not a TOML value", cure)
    return text


def refuse_outside(values: Values, parameter: Parameter, describe: Callable[[int], str]) -> None:
    """Raise FaultError if a value is out of range; `describe` says which, from its index."""
    if (index := parameter.first_outside(values)) is not None:
        raise FaultError(describe(index), f"it has to be {parameter.requirement}")


def _expected(parameter: Parameter) -> str:
    if parameter.unit == "1":
        return "write a plain number"
    unit = parameter.unit
    return f'write a number in {unit}, or text with a unit such as "2 {unit}"'


def _in_si(text: str, parameter: Parameter) -> float:
    match = _QUANTITY.fullmatch(text) if len(text) <= MAX_TEXT_LENGTH else None
    if match is None:
        plain = rewritten(text) if len(text) <= MAX_TEXT_LENGTH else ""
        cure = f'write "{plain}"' if plain else _expected(parameter)
        if len(text) <= MAX_TEXT_LENGTH and _SEVERAL.fullmatch(text) and not plain:
            cure = f"write one number, or on an axis a list: [{text}]"
        raise FaultError(f"{written(text)} is not a number with a unit", cure)
    unit, target = _unit(text, match[2] or "1"), read_unit(parameter.unit)
    if unit.dimensions != target.dimensions:
        raise _wrong_kind(text, match[1], unit, parameter)
    return scaled(match[1], unit.factor / target.factor)


def _unit(text: str, unit: str) -> Unit:
    """The unit of a quantity."""
    try:
        return read_unit(unit)
    except FaultError as error:
        raise FaultError(error.what.replace(written(unit), written(text), 1), error.cure) from None


def _wrong_kind(text: str, number: str, unit: Unit, parameter: Parameter) -> FaultError:
    if unit == read_unit("1") and parameter.unit != "rad":
        plain = f"drop the quotes for a number in {parameter.unit}"
        return FaultError(
            f"{written(text)} has no unit", f'{plain}, or write "{text} {parameter.unit}"'
        )
    amount, _, name = text.partition(" ")
    if name == "g" and parameter.unit == "m/s^2":
        cure = f'g is gram; write "{amount} g_n" for {amount} times the standard gravity'
        return FaultError(f"{written(text)} has the wrong dimension", cure)
    turned, target = unit.times(read_unit("rad")), read_unit(parameter.unit)
    if turned.dimensions != target.dimensions:
        return FaultError(f"{written(text)} has the wrong dimension", _expected(parameter))
    amount = f"{scaled(number, turned.factor / target.factor):.12g}"
    turns = f'"{amount} {parameter.unit.replace("rad", "turn")}" (2 pi times larger)'
    cure = f'write {turns} or "{amount} {parameter.unit}"'
    return FaultError(f"{written(text)} may mean turns or radians", cure)

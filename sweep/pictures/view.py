"""How a picture is drawn where that is chosen: axes, scales, limits, units and title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict, cast, get_args

import numpy as np

from sweep.errors import FaultError, SweepError
from sweep.model.table import Parameter
from sweep.text import units
from sweep.text.wording import listed, nearest, shown

Limits = tuple[float | str, float | str]
Size = Literal["page", "column"]
RENAMED = {"lines": "hue", "facet": "col"}  # keywords and options that have another name now


class ViewKeywords(TypedDict, total=False):
    """The fields of a View, as keywords."""

    x: str | None
    y: str | None
    hue: str | None
    col: str | None
    row: str | None
    log: Sequence[str]
    limits: Mapping[str, Limits]
    unit: Mapping[str, str]
    size: Size
    title: str | None


@dataclass(frozen=True)
class View:
    """What is chosen of a picture; all names are those of axes or of the output.

    `x` is drawn to the right; `y` upwards, on a map; or a line is drawn for each value of `hue`.
    There is a panel for each value of `col`, side by side, and of `row`, below each other. Limits
    are numbers in the unit that is shown, or texts with a unit. The picture is as wide as one
    column of a page, or as two.
    """

    x: str | None = None
    y: str | None = None
    hue: str | None = None
    col: str | None = None
    row: str | None = None
    log: Sequence[str] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict[str, Limits])
    unit: Mapping[str, str] = field(default_factory=dict[str, str])
    size: Size = "page"
    title: str | None = None

    def __post_init__(self) -> None:
        for name in ("limits", "unit"):
            if not isinstance(getattr(self, name), Mapping):
                text = shown(getattr(self, name))
                raise SweepError(f"{name}={text} is not a mapping. Give values by name, as a dict")
        if isinstance(self.log, str):
            raise SweepError(f"log={self.log!r} is not a list of names")
        if self.y is not None and self.hue is not None:
            raise SweepError("`y` draws a map and `hue` draws lines: leave out one of the two")
        if self.size not in (sizes := get_args(Size)):
            raise SweepError(f"size={shown(self.size)} is not one of {listed(sizes)}")
        options = {each: getattr(self, each) for each in ("x", "y", "hue", "col", "row")}
        chosen: dict[str, str] = {}
        for option, name in options.items():
            if name is None:
                continue
            if name in chosen:
                raise SweepError(
                    f"{name} is chosen twice, by `{chosen[name]}` and `{option}`: choose another "
                    "axis for one of them"
                )
            chosen[name] = option

    @property
    def axes(self) -> list[str]:
        """The chosen axes, the one drawn to the right first."""
        return [name for name in (self.x, self.y or self.hue) if name is not None]

    @property
    def panel_axes(self) -> list[str]:
        """The axes with a panel for each value: that of the rows first."""
        return [name for name in (self.row, self.col) if name is not None]

    def check(self, drawn: Iterable[str]) -> None:
        """SweepError if a name is neither that of an axis that is drawn nor that of the output."""
        names = list(drawn)
        for option in ("log", "limits", "unit"):
            for name in getattr(self, option):
                if name not in names and not (option == "unit" and name in self.panel_axes):
                    cure = nearest(name, names)
                    raise SweepError(f"`{option}` names {name}, which is not drawn; {cure}")

    def renamed(self, output: str, other: str) -> View:
        """The same with another name for the output."""
        names = {output: other}
        return replace(
            self,
            log=[names.get(name, name) for name in self.log],
            limits={names.get(name, name): pair for name, pair in self.limits.items()},
            unit={names.get(name, name): unit for name, unit in self.unit.items()},
        )

    def limits_of(self, name: str, unit: str) -> tuple[float, float] | None:
        """The limits of an axis or output that is shown in `unit`, if they are chosen."""
        if name not in self.limits:
            return None
        pair: Any = self.limits[name]
        if not isinstance(pair, list | tuple) or len(cast(Sequence[Any], pair)) != 2:
            raise SweepError(
                f"limits of {name} are {shown(cast(object, pair))}: give a lower and an upper one"
            )
        what = f"limits of {name}"
        low, high = (in_unit(what, end, unit) for end in cast(Sequence[Any], pair))
        if not low < high:
            raise SweepError(f"limits of {name}: {low:g} is not below {high:g}; exchange them")
        return low, high


def view_of(keywords: ViewKeywords) -> View:
    """The View with these fields; SweepError for unknown ones."""
    known = [each.name for each in fields(View)]
    for name in keywords:
        if name in RENAMED:
            raise SweepError(f"plot takes no {name}=...: write {RENAMED[name]}=...")
        if name not in known:
            raise SweepError(f"plot takes no {name}=...; {nearest(name, known)}")
    return View(**keywords)


def factor(unit: str, shown_in: str, name: str) -> float:
    """How many of one unit another one is; SweepError if they measure different things."""
    try:
        return units.factor(unit, shown_in)
    except FaultError as error:
        raise SweepError(f"unit of {name}: {error}") from None


def in_unit(what: str, value: object, unit: str, *, infinite: bool = False) -> float:
    """A value as a number in a unit: a text may have a unit of its own.

    SweepError, which begins with what it is.
    """
    from sweep.file.quantities import number, value_of

    parameter = Parameter(name=what, symbol="", unit=unit, meaning="", infinite=infinite)
    try:
        plain = value_of(value) if isinstance(value, str) else np.asarray(value).tolist()
        return number(plain, parameter)
    except FaultError as error:
        raise SweepError(f"{what}: {error}") from None

"""Labels in pictures: quantities, units and names."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sweep.analysis.statistics import label_names

if TYPE_CHECKING:
    import xarray as xr

LABEL_WIDTH = 60  # characters that fit along the shortest axis


def axis_label(variable: xr.DataArray) -> str:
    """The meaning of a variable up to the first ; or : with its unit, wrapped to fit an axis."""
    meaning = str(variable.attrs.get("long_name", variable.name))
    name = meaning.partition(";")[0].partition(":")[0]
    return textwrap.fill(with_unit(name, variable), LABEL_WIDTH)


def unit(variable: xr.DataArray) -> str:
    """The unit as printed, "" if dimensionless: "m/s^2" becomes "m/s²"."""
    text = str(variable.attrs.get("units", "1"))
    return "" if text == "1" else text.replace("^2", "²").replace("^3", "³")


def with_unit(text: str, variable: xr.DataArray) -> str:
    """A label with the variable's unit, in which no line breaks: "mass [kg]"."""
    symbol = unit(variable).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{text} [{symbol}]".lstrip() if symbol else text


def quantity(variable: xr.DataArray) -> str:
    """A single value with its unit, or its name."""
    if names := label_names(variable):
        return names[int(variable)]
    return f"{float(variable):.6g} {unit(variable)}".rstrip()


def values_of(dataset: xr.Dataset, names: Iterable[str]) -> str:
    """Parameters of one point with their values: "mass = 1 kg, friction = 0.3"."""
    return ", ".join(f"{name} = {quantity(dataset[name])}" for name in names)


def in_words(name: str) -> str:
    """A name with spaces in place of underscores."""
    return name.replace("_", " ")

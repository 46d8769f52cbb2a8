"""Labels in pictures: symbols, quantities, units, and names of and along axes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import numpy as np
import xarray as xr

from sweep.model.elements import base
from sweep.model.table import every_parameter
from sweep.pictures.scales import spans_decades
from sweep.pictures.view import factor
from sweep.points.recipes import model_in
from sweep.request.chunk import Values
from sweep.text.units import printed, superscripts, with_prefix

LABEL_WIDTH = 60  # characters that fit along the shortest axis
LABEL_NAMES = "label_names"  # attribute of a coordinate whose names are drawn as 0, 1, 2, ...
SYMBOL = "symbol"  # attribute of a parameter: its symbol as text, or its definition
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "eps": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω",
    "Omega": "Ω",
}  # fmt: skip
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
PREPOSITION = re.compile(r" (?:about|against|at|between|by|for|from|in|of|on|over|to|under|with) ")


def axis_label(variable: xr.DataArray) -> str:
    """A parameter's name and symbol, or a meaning up to the first ; or :, and the unit.

    It is wrapped to fit an axis: "friction μ", "β = μκΔz/Δx", "mean of N|v| over the window [W]".
    """
    definition = str(variable.attrs.get(SYMBOL, ""))
    text = definition if "=" in definition else named(variable) if definition else meaning(variable)
    return textwrap.fill(with_unit(text, variable), LABEL_WIDTH)


def meaning(variable: xr.DataArray) -> str:
    """The meaning up to the first ; or :, without the names of symbols and variables."""
    text = str(variable.attrs.get("long_name", variable.name))
    text = in_symbols(text.partition(";")[0].partition(":")[0])
    return re.sub(r"\b[a-z]{2,}(_[a-z0-9]+)+\b", lambda match: in_words(match[0]), text)


def symbol(variable: xr.DataArray) -> str:
    """The symbol of a parameter, or its name in words."""
    return str(variable.attrs.get(SYMBOL, "")).partition(" ")[0] or in_words(str(variable.name))


def named(variable: xr.DataArray) -> str:
    """The name of a parameter in words and its symbol: "base acceleration a₀", "β"."""
    words, letter = in_words(str(variable.name)), symbol(variable)
    return letter if letter in (words, symbol_text(words)) else f"{words} {letter}"


def with_symbols(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset with the symbols of its model's parameters as attributes."""
    dataset = dataset.copy(deep=False)
    model = model_in(dataset.attrs)
    for parameter in every_parameter(model) if model else ():
        text = symbol_text(parameter.symbol)
        if parameter.definition:
            text += f" = {formula_text(parameter.definition)}"
        if parameter.name in dataset.coords and _letters(text) != _letters(parameter.name):
            dataset[parameter.name].attrs[SYMBOL] = text
    return dataset


def _letters(text: str) -> str:
    """What is left without underscores and typesetting: "beltspeed" of "belt_speed" both ways."""
    return re.sub(r"\\mathrm|\W|_", "", text)


def symbol_text(symbol: str) -> str:
    """A symbol of a model's table as pictures write it: "mu" is "μ", "a0" "a₀", "Delta_z" "Δz"."""
    head, _, index = symbol.partition("_")
    letter = head.rstrip("0123456789")
    text = GREEK.get(letter, letter) + head[len(letter) :].translate(SUBSCRIPTS)
    if index.isdigit():
        return text + index.translate(SUBSCRIPTS)
    return text + index if text == "Δ" or not index else rf"${text}_\mathrm{{{index}}}$"


def formula_text(formula: str) -> str:
    """A product or quotient of symbols as pictures write it: "mu Delta_z/Delta_x" is "μΔz/Δx"."""
    return re.sub(r"\w+", lambda match: symbol_text(match[0]), formula).replace(" ", "")


def in_symbols(prose: str) -> str:
    """A text with the names of symbols replaced: "G* a0 delta/n Delta_x^2" is "G* a₀ δ/n Δx²"."""
    names = "|".join(GREEK)
    symbols = re.sub(
        rf"\b(?:(?:{names})(?:_\w)?|[a-z]0|[A-Z]_[A-Z])\b",
        lambda match: symbol_text(match[0]),
        prose,
    )
    return superscripts(symbols)


def readable(values: Values, unit: str) -> tuple[str, float]:
    """A unit in which values are easy to read, and the factor that converts values in `unit`.

    A prefix is chosen if the largest value is far from 1, unless the values span decades.
    """
    finite = np.abs(values[np.isfinite(values)])
    if spans_decades(finite[finite > 0]):
        return unit, 1.0
    return with_prefix(unit, float(finite.max(initial=0.0)))


def point_text(dataset: xr.Dataset, without: Iterable[str] = (), always: Iterable[str] = ()) -> str:
    """The parameters that have one value, in the model's order: "m = 1 kg, g = 10 m/s², ...".

    Those without effect, and controls of the method that have their default, are left out, except
    the parameters in `always`. Elements of one parameter that are equal are written once, by its
    name.
    """
    model = model_in(dataset.attrs)
    tables = every_parameter(model) if model else []
    controls = [] if model is None else [p.name for m in model.methods for p in m.parameters]
    defaults = {p.name: p.default for p in tables if p.neutral or p.name in controls}
    defaults = {name: value for name, value in defaults.items() if name not in {*always}}
    names = [str(name) for name in dataset.coords if name not in {*without}]
    known = {parameter.name: place for place, parameter in enumerate(tables)}
    fixed = (dataset[name] for name in sorted(names, key=lambda name: known.get(name, len(known))))
    shown = [
        each
        for each in fixed
        if not each.ndim and each.dtype.kind in "iuf"
        if not np.isnan(float(each)) and defaults.get(str(each.name)) != float(each)
    ]
    of_base: dict[str, set[float]] = {}
    for each in shown:
        of_base.setdefault(base(str(each.name)), set()).add(float(each))
    texts = (
        f"{_of_all(symbol(each)) if len(of_base[base(str(each.name))]) == 1 else symbol(each)}"
        f" = {quantity(each)}"
        for each in shown
    )
    once = dict.fromkeys(text.replace(" ", "\N{NO-BREAK SPACE}") for text in texts)
    return ", ".join(once)


def _of_all(symbol: str) -> str:
    """The symbol of all elements, from that of one: "F" from "F[0]", also where it is typeset."""
    return re.sub(r"\[[^\]]*\]", "", symbol)


def unit_of(variable: xr.DataArray) -> str:
    """The unit as printed, "" if dimensionless: "m/s^2" becomes "m/s²"."""
    return printed(str(variable.attrs.get("units", "1")))


def with_unit(text: str, variable: xr.DataArray) -> str:
    """A label with the variable's unit: "mass [kg]"."""
    printed_unit = unit_of(variable)
    return f"{text} [{printed_unit}]".lstrip() if printed_unit else text


def quantity(variable: xr.DataArray, unit: str | None = None) -> str:
    """A single value in this unit, by default a readable one, or its name."""
    (text,) = quantities(variable, unit)
    return text


def quantities(variable: xr.DataArray, unit: str | None = None) -> list[str]:
    """Values of one axis in a unit that all share, by default a readable one, or their names."""
    values = variable.values.ravel()
    if names := label_names(variable):
        return [names[int(value)] for value in values]
    own = str(variable.attrs.get("units", "1"))
    if unit is None:
        unit, share = readable(values.astype(np.float64), own)
    else:
        share = factor(own, unit, str(variable.name))
    return [f"{float(value) * share:.6g} {printed(unit)}".rstrip() for value in values]


def values_of(dataset: xr.Dataset, names: Iterable[str]) -> str:
    """Parameters of one point with their values: "mass m = 1 kg, friction μ = 0.3"."""
    return ", ".join(f"{named(dataset[name])} = {quantity(dataset[name])}" for name in names)


def title_of(dataset: xr.Dataset, output: str) -> str:
    """What a picture shows, as its title: "Wear power of a mass rubbing on a shaken plane".

    Outputs of shipped models have names that are words; others are described by their meaning.
    """
    model = model_in(dataset.attrs)
    of_model = [each.name for each in model.outputs] if model and not model.text else []
    is_described = output in dataset and output not in of_model and output != "status"
    subject = meaning(dataset[output]) if is_described else in_words(output)
    subject = subject[:1].upper() + subject[1:]
    system = model.title if model else str(dataset.attrs.get("title", ""))
    if not system:
        return subject
    if not system[0].islower() or " of " in subject or "," in subject:
        return f"{subject}, {system}"
    return f"{subject} of {_article(system)}{system}"


def _article(system: str) -> str:
    """The indefinite article of a title with a space after it; none of a plural."""
    noun = PREPOSITION.split(system)[0].split()[-1]
    if noun.endswith("s") and not noun.endswith("ss"):
        return ""
    return "an " if system[0] in "aeio" else "a "


def in_words(name: str) -> str:
    """A name with spaces in place of underscores."""
    return name.replace("_", " ")


def hyphenated(name: str) -> str:
    """The name of a class as it is written on a picture."""
    return name.replace("_", "-")


def labels_of(dataset: xr.Dataset, output: str) -> tuple[str, ...]:
    """The labelled dimensions of an output, such as `quantile`: points or cells lack them."""
    if "status" not in dataset:
        return ()
    dims = (str(name) for name in dataset[output].dims if name not in dataset["status"].dims)
    return tuple(name for name in dims if name in dataset.coords)


def with_codes(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset with names along dimensions replaced by 0, 1, 2, ..."""
    coded: dict[str, xr.Variable] = {}
    for name in map(str, dataset.coords):
        values = dataset[name]
        if values.dims == (name,) and values.dtype.kind in "TOU":
            names = list(map(str, values.values.tolist()))
            attributes = {**values.attrs, LABEL_NAMES: names}
            coded[name] = xr.Variable(name, np.arange(float(values.size)), attributes)
    return dataset.assign_coords(coded)


def label_names(variable: xr.DataArray) -> list[str]:
    """The names of coded labels; none if they are numbers."""
    return list(variable.attrs.get(LABEL_NAMES, ()))

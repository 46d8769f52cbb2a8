"""What pictures of statistics need beyond those of points: labelled dimensions, bands and bars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sweep.errors import SweepError
from sweep.wording import nearest
from sweep.work import Values

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

LABEL_NAMES = "label_names"  # attribute of a coordinate whose names are drawn as 0, 1, 2, ...
ORDERS = ("first_order", "total_order")


def labels_of(dataset: xr.Dataset, output: str) -> tuple[str, ...]:
    """The labelled dimensions of an output, such as `quantile`: points or cells lack them."""
    if "status" not in dataset:
        return ()
    dims = (str(name) for name in dataset[output].dims if name not in dataset["status"].dims)
    return tuple(name for name in dims if name in dataset.coords)


def with_codes(dataset: xr.Dataset) -> xr.Dataset:
    """The Dataset with names along dimensions replaced by 0, 1, 2, ..."""
    import xarray as xr

    coded: dict[str, xr.Variable] = {}
    for name in map(str, dataset.coords):
        values = dataset[name]
        if values.dims == (name,) and values.dtype.kind in "TOU":
            names = list(map(str, values.values.tolist()))
            attributes = {**values.attrs, LABEL_NAMES: names}
            coded[name] = xr.Variable(name, np.arange(float(values.size)), attributes)
    return dataset.assign_coords(coded)


def codes_of(dataset: xr.Dataset, at: Mapping[str, str]) -> dict[str, float]:
    """The codes of names such as regime_class=slip, in the place of values of an axis."""
    found: dict[str, float] = {}
    for name, text in at.items():
        known = with_codes(dataset).coords[name].attrs.get(LABEL_NAMES) if name in dataset else None
        if known is None:
            continue
        if text not in known:
            raise SweepError(f"{name} has no {text!r}: {nearest(text, known)}")
        found[name] = float(known.index(text))
    return found


def label_names(variable: xr.DataArray) -> list[str]:
    """The names of coded labels; none if they are numbers."""
    return list(variable.attrs.get(LABEL_NAMES, ()))


def draw_band(axes: Axes, x: Values, dataset: xr.Dataset, name: str, share: float = 1.0) -> None:
    """Draw the band between the lowest and the highest quantile, times `share`, behind a mean."""
    quantile = f"{name.removesuffix('_mean')}_quantile"
    if not name.endswith("_mean") or quantile not in dataset or dataset["quantile"].size < 2:
        return
    levels = dataset["quantile"].values
    low, high = (share * dataset[quantile].isel(quantile=i).values for i in (0, -1))
    label = f"{100 * levels[0]:g} % to {100 * levels[-1]:g} % of the points"
    axes.fill_between(x, low, high, alpha=0.25, linewidth=0, label=label)
    axes.lines[0].set_label("mean")


def draw_bars(axes: Axes, dataset: xr.Dataset, name: str, dimension: str) -> None:
    """Draw a bar for each label; of Sobol' indices both orders, with their errors if known."""
    labels = dataset[dimension]
    suffix = next((order for order in ORDERS if name.endswith(order)), None)
    names = [name]
    if suffix:
        names = [f"{name.removesuffix(suffix)}{order}" for order in ORDERS]
        names = [each for each in names if each in dataset]
    places, width = np.arange(labels.size), 0.8 / len(names)
    if name.endswith("_histogram"):
        start, step = (float(dataset[f"{name}_{end}"]) for end in ("start", "width"))
        axes.bar(start + step * places, dataset[name].values, step, align="edge")
        return
    for i, each in enumerate(names):
        errors = f"{each}_error"
        axes.bar(
            places + (i - (len(names) - 1) / 2) * width,
            dataset[each].values,
            width,
            yerr=dataset[errors].values if errors in dataset else None,
            label=each.removeprefix(name.removesuffix(suffix)).replace("_", " ") if suffix else "",
        )
    texts = label_names(labels) or [f"{value:g}" for value in labels.values]
    axes.set_xticks(places, labels=[text.replace("_", "-") for text in texts])

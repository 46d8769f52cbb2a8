"""Parameter sweeps of friction: dissipated energy and wear over grids of 10³ to 10⁹ points.

>>> import sweep
>>> ds = sweep.run("wear_power")  # an xarray.Dataset, kept in results/wear_power.zarr
>>> ds = sweep.run("wear_power", ["friction = 0.1"], store=None)  # in memory, writes nothing
>>> ds = sweep.open_results("results/wear_power.zarr")  # lazy
>>> motion = sweep.trace("wear_power", {"friction": 0.1, "base_acceleration": 15})  # of one point
>>> worn = sweep.wear(ds, law="edf_mz", years=[1, 5, 10])
>>> print(sweep.plot(ds, "wear_power", "map.png"))  # or the path of a store in place of ds
map.png
>>> print(sweep.export("results/wear_power.zarr", "wear_power.nc"))  # or .csv, .parquet
wear_power.nc
>>> contacts = sweep.run("hanisch_fig3", store=None)
>>> curve = sweep.fit(contacts, "xi", at={"delta": 1e-6})  # a master curve
>>> errors = sweep.compare(sweep.run("sdnd104", store=None), "exact")  # against another method
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sweep.analysis.comparison import compare as compare
    from sweep.analysis.master_curve import fit as fit
    from sweep.analysis.plots import plot as plot
    from sweep.analysis.wear_over_years import wear as wear
    from sweep.api import run as run
    from sweep.config import load as load
    from sweep.errors import ConfigError as ConfigError
    from sweep.errors import Fault as Fault
    from sweep.errors import SweepError as SweepError
    from sweep.exporting import export as export
    from sweep.store import open_results as open_results
    from sweep.tracing import trace as trace

__version__ = "0.1.0"

PUBLIC = {
    "run": "sweep.api",
    "plot": "sweep.analysis.plots",
    "fit": "sweep.analysis.master_curve",
    "export": "sweep.exporting",
    "compare": "sweep.analysis.comparison",
    "wear": "sweep.analysis.wear_over_years",
    "load": "sweep.config",
    "open_results": "sweep.store",
    "trace": "sweep.tracing",
    "SweepError": "sweep.errors",
    "ConfigError": "sweep.errors",
    "Fault": "sweep.errors",
}

__all__ = [
    "ConfigError",
    "Fault",
    "SweepError",
    "__version__",
    "compare",
    "export",
    "fit",
    "load",
    "open_results",
    "plot",
    "run",
    "trace",
    "wear",
]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]

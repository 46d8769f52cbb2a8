"""Parameter sweeps of friction: dissipated energy and wear over grids of 10³ to 10⁹ points.

>>> import sweep
>>> ds = sweep.run("wear_power")  # an xarray.Dataset, kept in results/wear_power.zarr
>>> ds = sweep.run("wear_power", ["friction = 0.1"], store=None)  # in memory, writes nothing
>>> ds = sweep.open_results("results/wear_power.zarr")  # lazy
>>> motion = sweep.trace("wear_power", {"friction": 0.1, "base_acceleration": 15})  # of one point
>>> worn = sweep.wear(ds, law="edf_mz", years=[1, 5, 10])
>>> figure = sweep.plot(ds, "wear_power", path="map.png")  # or the path of a store
>>> print(sweep.export("results/wear_power.zarr", "wear_power.nc"))  # or .csv, .parquet
wear_power.nc
>>> print(sweep.explore("wear_power", "map.html"))  # or a store, or a Dataset
map.html
>>> contacts = sweep.run("hanisch_fig3", store=None)
>>> curve = sweep.fit(contacts, "xi", at={"delta": 1e-6})  # a master curve
>>> errors = sweep.compare(sweep.run("sdnd104", store=None), "exact")  # against another method
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sweep.version import __version__ as __version__

if TYPE_CHECKING:
    from sweep.api import Source as Source
    from sweep.api import run as run
    from sweep.engine.ledger import Progress as Progress
    from sweep.engine.loop import Report as Report
    from sweep.errors import CompileError as CompileError
    from sweep.errors import ConfigError as ConfigError
    from sweep.errors import Fault as Fault
    from sweep.errors import MachineError as MachineError
    from sweep.errors import StoreError as StoreError
    from sweep.errors import SweepError as SweepError
    from sweep.errors import SweepWarning as SweepWarning
    from sweep.explorers import explore as explore
    from sweep.file import load as load
    from sweep.file.overrides import Changes as Changes
    from sweep.fits import Choices as Choices
    from sweep.fits import ContactEnergies as ContactEnergies
    from sweep.fits import Degrees as Degrees
    from sweep.fits import MasterCurve as MasterCurve
    from sweep.fits import fit
    from sweep.pictures.comparison import compare as compare
    from sweep.pictures.plots import plot as plot
    from sweep.pictures.view import ViewKeywords as ViewKeywords
    from sweep.request.options import RunKeywords as RunKeywords
    from sweep.request.sweeps import Request as Request
    from sweep.results.exporting import export as export
    from sweep.results.tracing import trace as trace
    from sweep.results.wear_over_years import Quantity as Quantity
    from sweep.results.wear_over_years import WearKeywords as WearKeywords
    from sweep.results.wear_over_years import wear as wear
    from sweep.store import open_results as open_results

PUBLIC = {
    "run": "sweep.api",
    "plot": "sweep.pictures.plots",
    "fit": "sweep.fits",
    "export": "sweep.results.exporting",
    "compare": "sweep.pictures.comparison",
    "wear": "sweep.results.wear_over_years",
    "load": "sweep.file",
    "open_results": "sweep.store",
    "trace": "sweep.results.tracing",
    "explore": "sweep.explorers",
    "Request": "sweep.request.sweeps",
    "RunKeywords": "sweep.request.options",
    "Progress": "sweep.engine.ledger",
    "WearKeywords": "sweep.results.wear_over_years",
    "MasterCurve": "sweep.fits",
    "Choices": "sweep.fits",
    "Degrees": "sweep.fits",
    "ContactEnergies": "sweep.fits",
    "ViewKeywords": "sweep.pictures.view",
    "Source": "sweep.api",
    "Changes": "sweep.file.overrides",
    "Report": "sweep.engine.loop",
    "Quantity": "sweep.results.wear_over_years",
    "SweepError": "sweep.errors",
    "ConfigError": "sweep.errors",
    "Fault": "sweep.errors",
    "StoreError": "sweep.errors",
    "CompileError": "sweep.errors",
    "MachineError": "sweep.errors",
    "SweepWarning": "sweep.errors",
}

__all__ = [
    "Changes",
    "Choices",
    "CompileError",
    "ConfigError",
    "ContactEnergies",
    "Degrees",
    "Fault",
    "MachineError",
    "MasterCurve",
    "Progress",
    "Quantity",
    "Report",
    "Request",
    "RunKeywords",
    "Source",
    "StoreError",
    "SweepError",
    "SweepWarning",
    "ViewKeywords",
    "WearKeywords",
    "__version__",
    "compare",
    "explore",
    "export",
    "fit",
    "load",
    "open_results",
    "plot",
    "run",
    "trace",
    "wear",
]


if not TYPE_CHECKING:  # which has each name from above, and would take any other for Any

    def __getattr__(name: str) -> Any:
        if name not in PUBLIC:
            raise AttributeError(f"module 'sweep' has no attribute {name!r}")
        return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__doc__"]

"""Calls as in a user's script. `make lint` checks their types: it fails if a wrong one is accepted.

Nothing here is run.
"""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import Any, assert_type

import xarray as xr
from matplotlib.figure import Figure

import sweep

METHOD: sweep.RunKeywords = {"workers": 2, "time_limit": "55m", "gpus": "all"}
RADIUS: sweep.Quantity = "11 mm"
LAW: sweep.WearKeywords = {"law": "archard", "radius": RADIUS, "years": [1, 5]}
LOOK: sweep.ViewKeywords = {"x": "friction", "unit": {"friction": "%"}}
SOURCE: sweep.Source = {"model": "friction_oscillator", "parameters": {"mass": "1 kg"}}
BY_NAME: sweep.Changes = {"friction": 0.1, "gravity": "1 g_n"}
BY_TEXT: sweep.Changes = ["friction=0.1"]


def listen(progress: sweep.Progress) -> None:
    assert_type(progress.points_done, int)


def right_calls(report: sweep.Report = listen) -> None:
    """Everything that a user may want to pass on is public."""
    results = sweep.run(SOURCE, BY_NAME, store=None, report=report, stop=Event(), **METHOD)
    assert_type(results, xr.Dataset)
    assert_type(sweep.run("map.toml", BY_TEXT, store="map.zarr", shard="1/8"), xr.Dataset)
    assert_type(sweep.open_results("map.zarr"), xr.Dataset)
    assert_type(sweep.trace("map.toml", {"mass": "2 kg"}, times=[0.1, 0.2]), xr.Dataset)
    assert_type(sweep.wear(results, **LAW), xr.Dataset)
    assert_type(sweep.compare(results, "moreau", {"step": "1 ms"}), xr.Dataset)
    assert_type(sweep.export(results, "map.csv", comments=True), Path)
    assert_type(sweep.explore(results, "map.html", outputs=["regime"], size=300, open=True), Path)
    assert_type(sweep.explore("map.toml"), Path)
    assert_type(sweep.plot(results, at={"friction": 0.1}, path="a.png", **LOOK), Figure)
    choices = sweep.Choices(method="minimax", degrees=(sweep.Degrees(4, 3),))
    assert_type(sweep.fit(results, "xi", choices, at={"delta": "1 %"}), sweep.MasterCurve)
    assert_type(sweep.load("map.toml", at={"mass": 2}), sweep.Request)


def wrong_calls(results: xr.Dataset, anything: Any) -> None:
    """Each is a mistake that a type checker has to find."""
    sweep.run("map.toml", wrokers=2)  # pyright: ignore[reportCallIssue]
    sweep.run("map.toml", workers="2")  # pyright: ignore[reportArgumentType]
    sweep.run("map.toml", backend="cuda")  # pyright: ignore[reportArgumentType]
    sweep.run(results)  # pyright: ignore[reportArgumentType]
    sweep.trace("map.toml", sampels=9)  # pyright: ignore[reportCallIssue]
    sweep.trace("map.toml", ["mass=1"])  # pyright: ignore[reportArgumentType]
    sweep.wear(results, lwa="archard")  # pyright: ignore[reportCallIssue]
    sweep.wear(results, radius=[1.0])  # pyright: ignore[reportArgumentType]
    sweep.fit(results, at=["delta=1"])  # pyright: ignore[reportArgumentType]
    sweep.compare(results, 3)  # pyright: ignore[reportArgumentType]
    sweep.plot(results, "regime", "map.png")  # pyright: ignore[reportArgumentType]
    sweep.plot(results, lines="friction")  # pyright: ignore[reportCallIssue]
    sweep.export(results)  # pyright: ignore[reportCallIssue]
    sweep.explore(results, sise=300)  # pyright: ignore[reportCallIssue]
    sweep.open_results(None)  # pyright: ignore[reportArgumentType]
    sweep.load("map.toml", at=3)  # pyright: ignore[reportArgumentType]
    sweep.runn(anything)  # pyright: ignore[reportAttributeAccessIssue]

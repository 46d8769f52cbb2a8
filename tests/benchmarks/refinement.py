"""Points that refinement saves for the same regimes, and what more than corners find.

The first part compares configs/wear_power_refined.toml with the whole grid of its finest level. The
second draws random borders in a square, including tongues thinner than a coarse cell. It counts the
points of the finest grid whose region comes out wrong if a cell is halved because of its corners
alone, of all known points at its edge, or together with its neighbours as [refine] does.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import sweep
from sweep.analysis.refined import cells_of, on_grid
from sweep.config import load
from sweep.refine.mesh import Keys, Mesh
from tests.benchmarks.record import Figure

FEWER = 20  # times, at least
COUNTS, LEVELS = (17, 33), 5
SEED = 11

Codes = NDArray[np.int64]  # of the regions, at every point of the finest grid
Choose = Callable[[Mesh, Codes], list[Keys]]


def measure(quick: bool) -> list[Figure]:
    return [*_wear_power(3 if quick else LEVELS), *_borders(2 if quick else 20)]


def _wear_power(levels: int) -> list[Figure]:
    name, changed = "wear_power_refined", [f"refine.levels={levels}"]
    sweep.run(name, ["refine.levels=1"], store=None)  # compiles, and imports what is imported late
    began = time.process_time()
    refined = sweep.run(name, changed, store=None, workers=1)
    seconds = time.process_time() - began
    gridded, plan = on_grid(refined), load(name).sweep
    whole = {
        "model": plan.model.name,
        "outputs": [output.name for output in plan.outputs],
        "parameters": dict(plan.constants),
        "axes": {axis.name: {"values": gridded[axis.name].values.tolist()} for axis in plan.axes},
    }
    began = time.process_time()
    full = sweep.run(whole, store=None, workers=1)
    ratio = (time.process_time() - began) / seconds
    regime = full["regime"].values.astype(np.int64)
    corners = np.stack([regime[:-1, :-1], regime[1:, :-1], regime[:-1, 1:], regime[1:, 1:]])
    border = np.flatnonzero(np.ptp(corners, axis=0))
    is_refined = np.isin(border, cells_of(refined).mesh.cells[-1])
    wrong = np.count_nonzero(gridded["regime"].values != regime)
    off = np.abs(gridded["wear_power"].values - full["wear_power"].values).max()
    return [
        Figure("points refined", refined.sizes["point"], "points"),
        Figure("points of the whole grid", regime.size, "points"),
        Figure(
            "points saved", regime.size / refined.sizes["point"], "times fewer",
            at_least=None if levels < LEVELS else FEWER,
        ),
        Figure("regimes that differ", wrong, "points", at_most=0),
        Figure("border cells of the whole grid", border.size, "cells"),
        Figure("border cells missed", np.count_nonzero(~is_refined), "cells", at_most=0),
        Figure("wear power between points: worst", off / full["wear_power"].values.max(), "of max"),
        Figure("processor time of the whole grid to refined", ratio, "", note="one thread"),
    ]  # fmt: skip


def _borders(n: int) -> list[Figure]:
    random = np.random.default_rng(SEED)
    ways: dict[str, Choose] = {"corners": _corners, "edges": _edges, "edges, around": _around}
    figures: list[Figure] = []
    for kind, drawn in (("waves", _waves), ("tongues", _tongues)):
        regions = [drawn(random) for _ in range(n)]
        for way, choose in ways.items():
            results = [_refine(codes, choose) for codes in regions]
            points, wrong, passes = (np.array(column) for column in zip(*results, strict=True))
            note = f"{points.mean():,.0f} points, {passes.mean():.1f} passes on average"
            share = wrong.mean() / regions[0].size
            figures.append(Figure(f"{kind}, {way}: wrong", share, "of the points", note=note))
    return figures


def _refine(codes: Codes, choose: Choose) -> tuple[int, int, int]:
    """The number of points and passes, and the number of points whose region comes out wrong."""
    mesh, passes = Mesh(COUNTS, LEVELS), 1
    while sum(map(len, chosen := choose(mesh, codes))):
        mesh.halve(chosen)
        passes += 1
    regions = np.full(codes.shape, -1)
    for level, cells in enumerate(mesh.cells):
        size = 1 << (LEVELS - level)
        for x, y in (mesh.places(cells, level) * size).tolist():
            regions[x : x + size + 1, y : y + size + 1] = codes[x, y]
    points = mesh.points()
    regions.ravel()[points] = codes.ravel()[points]
    return points.size, int(np.count_nonzero(regions != codes)), passes


def _corners(mesh: Mesh, codes: Codes) -> list[Keys]:
    at = [codes.ravel()[mesh.corners(level)] for level in range(LEVELS)]
    return [mesh.cells[level][np.ptp(at[level], axis=1) > 0] for level in range(LEVELS)]


def _edges(mesh: Mesh, codes: Codes) -> list[Keys]:
    points = mesh.points()
    return mesh.unlike(points, [(codes.ravel()[points].astype(np.float64), 0.0)])


def _around(mesh: Mesh, codes: Codes) -> list[Keys]:
    chosen = _edges(mesh, codes)
    around = mesh.beside([*chosen[:-1], chosen[-1][:0]])
    return [np.union1d(one, more) for one, more in zip(chosen, around, strict=True)]


def _square() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    sizes = [np.linspace(0, 1, ((n - 1) << LEVELS) + 1) for n in COUNTS]
    x, y = np.meshgrid(*sizes, indexing="ij")
    return x, y


def _waves(random: np.random.Generator) -> Codes:
    """A wavy border with small waves on it."""
    x, y = _square()
    slow, fast = random.uniform(0, 2 * np.pi, 2)
    return (y > 0.5 + 0.1 * np.sin(25 * x + slow) + 0.03 * np.sin(40 * x + fast)).astype(np.int64)


def _tongues(random: np.random.Generator) -> Codes:
    """A wedge from the lower side, at most 1/33 wide, to a tip inside."""
    x, y = _square()
    left, lean, long = random.uniform(0.1, 0.4), random.uniform(0.3, 1.3), random.uniform(0.4, 0.9)
    along = (x - left) * np.cos(lean) + y * np.sin(lean)
    across = (x - left) * np.sin(lean) - y * np.cos(lean)
    wedge = (along > 0) & (along < long) & (np.abs(across) < (1 - along / long) / 66)
    return (wedge | (y < 0.03)).astype(np.int64)

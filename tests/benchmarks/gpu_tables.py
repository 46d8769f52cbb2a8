"""The tables of GPUs' speeds in docs/explanation/speed.md: `python -m tests.benchmarks.gpu_tables`.

Each gpu-DEVICE.json in results/benchmarks has one. The command writes all pages with figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks import tables

RESULTS = tables.ROOT / "results" / "benchmarks"
BEGIN = "<!-- speeds of GPUs, written by make bench BACKEND=gpu -->\n"
END = "<!-- end of speeds of GPUs -->\n"
OF_KERNELS = {  # by the name of the work, what is computed
    "friction_oscillator exact, wear power of SDND104": (
        "`exact` wear power, SDND104's window, friction × acceleration"
    ),
    "friction_oscillator exact, random points": "`exact` wear power, random points of every kind",
    "friction_oscillator euler, one clock": "`euler`, one frequency and step",
    "friction_oscillator moreau, one clock": "`moreau`, the same",
    "friction_oscillator devogelaere, one clock": "`devogelaere`, the same",
    "friction_oscillator rk54, one clock": "`rk54`, constant step, the same",
    "friction_oscillator rk54, random points": "`rk54`, random points of every kind",
    "mdr_contact exact, sphere": "`exact` contact of a sphere",
    "mdr_contact exact, random points": "`exact` contact, random points of four profiles",
    "mdr_contact time_stepping, 1024 springs": "`time_stepping` of a contact, springs",
    "mdr_contact time_stepping_2, 1024 springs": "`time_stepping_2` of a contact, springs",
    "impact_oscillator exact, random points": "`exact` impact oscillator, all outputs",
    "impact_oscillator newmark, random points": "`newmark`, random points",
    "impact_oscillator harmonic_balance, 40 harmonics": "`harmonic_balance`, 40 harmonics",
    "impact_oscillator harmonic_balance, random points": "the same, random points",
    "lorenz rk4, final x": (
        "model file `lorenz`, `rk4` (published, doubles, Titan Black GPU: 1.4e10 for MPGOS, 1.7e10 "
        "for CUDA by hand)"
    ),
    "relief_valve rk54, last maxima of 30,720": (
        "model file `relief_valve`, `rk54`, 30,720 valves (published, doubles, Titan Black GPU: "
        "3.8e3 for MPGOS)"
    ),
    "relief_valve rk54, last maxima of 262,144": "the same, 2¹⁸ valves",
    "forced_impact rk54, bifurcation map": "model file `forced_impact`, `rk54`, a bifurcation map",
    "pendulum rk54, to t = 1000": (
        "10⁵ pendulums to t = 1000, tolerance 1e-8, `rk54` (published for this case study of "
        "pybasin: 8.1e3 by Julia's DP5 on 24 cores, 8.6e3 by JAX on a GPU, 1.4e5 by DiffEqGPU in "
        "single precision on a laptop's GPU)"
    ),
    "pendulum dop853, to t = 1000": "the same, `dop853`",
}
OF_MAPS = {
    "SDND104 in chunks, two threads": "`exact` wear powers of SDND104, chunk after chunk",
    "SDND104 into a store, 2³⁰ points": "the same, 2³⁰ of them stored",
    "10¹¹ samples of SDND104, reduced": "the same of random frictions, reduced to statistics",
}

Record = Mapping[str, Any]


def records() -> dict[str, Record]:
    """The figures of each GPU, by the name of their file."""
    paths = sorted(RESULTS.glob("gpu-*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def pages(record: Record) -> dict[Path, str]:
    """As `tables.pages` of cpu.json's record, with the tables of GPUs."""
    texts = tables.pages(record)
    return {**texts, tables.SPEED: with_tables(texts[tables.SPEED])}


def with_tables(text: str) -> str:
    """The text of a page with the tables of all GPUs."""
    return tables.replaced(text, BEGIN, END, "\n".join(map(_table, records().values())))


def _table(record: Record) -> str:
    device = record["device"]
    where = f"{device['name']}; driver {device['driver']}, CUDA {device['runtime']}, CuPy "
    where += f"{device['cupy']}; {record['date'][:10]}."
    limits: Record = json.loads((RESULTS / "gpu_limits.json").read_text(encoding="utf-8"))
    share = f"of its limit as counted on {limits['date']}"
    header = ("", "per second in kernels", "in whole calls", share)
    lines = [*_kernels(record, limits), *_maps(record)]
    return f"{where}\n\n{tables.table(header, lines)}"


def _kernels(record: Record, limits: Record) -> Iterator[tables.Cells]:
    """A line for each kernel; its limit is that of gpu_limits.json at the device's rate.

    The limits were counted once, and the kernels may have changed since.
    """
    scale = record["device"]["double_rate"] / limits["rate"]
    for name, text in OF_KERNELS.items():
        figures, limit = record["kernels"][name], limits["limits"].get(name)
        points = figures["kernel_points_per_second"]
        speed = figures.get("kernel_steps_per_second", points)
        unit = "points" if speed == points else "steps"
        whole = speed * figures["call_points_per_second"] / points
        share = f"{speed / (scale * limit['most_per_second']):.0%}" if limit else "not counted"
        yield text, f"{tables.short(speed)} {unit}", tables.short(whole), share.replace("%", " %")


def _maps(record: Record) -> Iterable[tables.Cells]:
    for name, text in OF_MAPS.items():
        figures = record["maps"][name]
        kernels = figures["points"] / figures["kernel_seconds"]
        whole = tables.short(figures["points_per_second"])
        yield text, f"{tables.short(kernels)} points", whole, ""


def main() -> None:
    """Write the pages."""
    kept: Record = json.loads((RESULTS / "cpu.json").read_text(encoding="utf-8"))
    for page, text in pages(kept).items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Curves hardly depend on the processor's BLAS: several OpenBLAS kernels, a process each.

Each version of OpenBLAS's kernels rounds differently. The environment chooses one when a process
starts; numpy and scipy each bring an OpenBLAS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CORE_TYPES = ("Nehalem", "Haswell", "SkylakeX")  # SSE, AVX2, AVX-512
NEEDED_FLAG = {"Haswell": "avx2", "SkylakeX": "avx512f"}
TOLERANCE = 1e-12  # of limits of stability, relative
FIT_TOLERANCE = 1e-7  # of values of a curve: where the sum of squares is least, it is flat

PROGRAM = """
import dataclasses, json, sys
import numpy as np
from sweep.fits import Choices, ContactEnergies, as_json, fit
from sweep.theory import stability
from sweep.theory.mdr_contact import constant_load_energy, universal_surface

def points(x, energy, n=2.0):
    unknown, delta = np.full(x.size, np.nan), np.full(x.size, 1e-6)
    exponent = np.full(x.size, n)
    columns = (x * 1e-6, delta, unknown, exponent, energy * 1e6, x, energy, unknown)
    return ContactEnergies("s", *columns)

def read(curve):
    plain = as_json(curve)
    chosen = {name: plain[name] for name in ("method", "n_coefficients", "notes", "range")}
    degrees = [[len(piece.get(side, ())) for side in ("numerator", "denominator")]
               for piece in plain["pieces"]]
    return {**chosen, "degrees": degrees, "curve": curve(np.linspace(*curve.limits, 30)).tolist()}

out = {"fits": {}, "limits": {}}
xi = np.concatenate([np.linspace(0.02, 1, 50), np.linspace(1, 4, 60)[1:]])
for n in (1.0, 2.0, 4.0):
    for method in ("least_squares", "minimax", "aaa"):
        energy = 3 * n / 16 * constant_load_energy(xi, n)
        out["fits"][f"{n} {method}"] = read(fit(points(xi, energy, n), "xi", Choices(method)))
for seed in range(3):
    x = np.geomspace(0.12, 30, 50)
    noise = 1 + 0.05 * np.random.default_rng(seed).standard_normal(50)
    for method in ("least_squares", "minimax"):
        noisy = dataclasses.replace(points(x, x), beta=x, energy=universal_surface(x, 1.5) * noise)
        out["fits"][f"noisy {seed} {method}"] = read(fit(noisy, "beta", Choices(method)))
for scheme in stability.SCHEMES:
    out["limits"][scheme] = [
        stability.stability_limit(scheme, zeta, apart)
        for zeta in (0, 0.01, 0.3, 0.7, 1, 1.5) for apart in (0, 0.2)
    ]
json.dump(out, sys.stdout)
"""


@cache
def outputs(core_type: str) -> dict[str, Any]:
    environment = {**os.environ, "OPENBLAS_CORETYPE": core_type}
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def leaves(node: Any, place: str = "") -> dict[str, Any]:
    if isinstance(node, dict):
        children = node.items()
    elif isinstance(node, list):
        children = enumerate(node)
    else:
        return {place: node}
    return {key: leaf for name, child in children for key, leaf in
            leaves(child, f"{place}/{name}").items()}  # fmt: skip


@pytest.mark.broad
@pytest.mark.parametrize("core_type", ["Haswell", "SkylakeX"])
def test_outputs_do_not_depend_on_the_blas(core_type: str) -> None:
    flags = Path("/proc/cpuinfo").read_text(encoding="ascii") if os.name == "posix" else ""
    if NEEDED_FLAG[core_type] not in flags:
        # It could not run that BLAS's code; another processor of the two is tested regardless.
        pytest.skip(f"this processor has no {NEEDED_FLAG[core_type]}")
    expected, computed = leaves(outputs(CORE_TYPES[0])), leaves(outputs(core_type))
    assert computed.keys() == expected.keys()
    for place, value in expected.items():
        if isinstance(value, float):
            tolerance = FIT_TOLERANCE if place.startswith("/fits") else TOLERANCE
            assert computed[place] == pytest.approx(
                value, rel=tolerance, abs=1e-300, nan_ok=True
            ), place
        else:
            assert computed[place] == value, place


def test_a_cone_has_the_degrees_of_its_closed_form() -> None:
    """W̄δ = 1/(4ξ) above ξ = 1; in degrees 1/2 rounding would choose a common factor."""
    for method in ("least_squares", "minimax"):
        curve = outputs(CORE_TYPES[0])["fits"][f"1.0 {method}"]
        assert (curve["notes"], curve["degrees"]) == ([], [[2, 1], [1, 1]])


def test_the_program_prints_many_numbers() -> None:
    numbers = leaves(outputs(CORE_TYPES[0]))
    assert sum(isinstance(value, float) for value in numbers.values()) > 400

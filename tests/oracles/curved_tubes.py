"""Modes of a tube along a line in space: straight Timoshenko elements, SI units.

Six displacements at each node: three translations, three rotations. The stiffness is exact in
statics; the mass is that of Bernoulli beams, without rotatory inertia of bending.
Source: J. S. Przemieniecki, Theory of matrix structural analysis (1968), sections 5.6 and 11.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

Array = Any  # of floats


class Tube(NamedTuple):
    outer_diameter: float
    inner_diameter: float
    modulus: float
    poisson_ratio: float
    density: float

    @property
    def area(self) -> float:
        return math.pi / 4 * (self.outer_diameter**2 - self.inner_diameter**2)

    @property
    def second_moment(self) -> float:
        return math.pi / 64 * (self.outer_diameter**4 - self.inner_diameter**4)

    @property
    def shear_coefficient(self) -> float:
        """Of a tube: G. R. Cowper, J. Appl. Mech. 33 (1966), 335."""
        nu, square = self.poisson_ratio, (self.inner_diameter / self.outer_diameter) ** 2
        whole = (1 + square) ** 2
        return 6 * (1 + nu) * whole / ((7 + 6 * nu) * whole + (20 + 12 * nu) * square)


def modes(
    tube: Tube, nodes: Array, mass: Array, count: int, *, closed: bool = False
) -> tuple[Array, Array]:
    """The lowest angular frequencies, and their shapes with a modal mass of 1, (count, n, 6).

    `nodes` are (n, 3), `mass` is that per length of each element. Both ends are clamped; a
    `closed` line is free, and its last element leads to the first node.
    """
    n = len(nodes)
    stiffness, inertia = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for i, per_length in enumerate(mass):
        ends = [i, (i + 1) % n]
        at = np.concatenate([np.arange(6 * end, 6 * end + 6) for end in ends])
        k, m = _element(tube, nodes[ends[1]] - nodes[ends[0]], per_length)
        stiffness[np.ix_(at, at)] += k
        inertia[np.ix_(at, at)] += m
    free = slice(None) if closed else slice(6, -6)
    squares, vectors = eigh(
        stiffness[free, free], inertia[free, free], subset_by_index=[0, count - 1]
    )
    shapes = np.zeros((count, 6 * n))
    shapes[:, free] = vectors.T
    return np.sqrt(np.maximum(squares, 0)), shapes.reshape(count, n, 6)


def _element(tube: Tube, line: Array, per_length: float) -> tuple[Array, Array]:
    """Stiffness and mass of an element, (12, 12)."""
    h = float(np.linalg.norm(line))
    bending = tube.modulus * tube.second_moment
    shear_modulus = tube.modulus / 2 / (1 + tube.poisson_ratio)
    p = 12 * bending / (tube.shear_coefficient * shear_modulus * tube.area * h**2)
    beam = bending / h**3 / (1 + p) * np.array([
        [12, 6 * h, -12, 6 * h],
        [6 * h, (4 + p) * h**2, -6 * h, (2 - p) * h**2],
        [-12, -6 * h, 12, -6 * h],
        [6 * h, (2 - p) * h**2, -6 * h, (4 + p) * h**2],
    ])  # fmt: skip
    beam_mass = per_length * h / 420 * np.array([
        [156, 22 * h, 54, -13 * h],
        [22 * h, 4 * h**2, 13 * h, -3 * h**2],
        [54, 13 * h, 156, -22 * h],
        [-13 * h, -3 * h**2, -22 * h, 4 * h**2],
    ])  # fmt: skip
    spring, rod = np.array([[1, -1], [-1, 1]]) / h, np.array([[2, 1], [1, 2]]) * h / 6
    polar = 2 * tube.second_moment
    mirrored = np.outer([1, -1, 1, -1], [1, -1, 1, -1])  # w' is minus the rotation about y
    stiffness, mass = np.zeros((12, 12)), np.zeros((12, 12))
    for at, k, m in (
        ([0, 6], tube.modulus * tube.area * spring, per_length * rod),
        ([3, 9], shear_modulus * polar * spring, tube.density * polar * rod),
        ([1, 5, 7, 11], beam, beam_mass),
        ([2, 4, 8, 10], mirrored * beam, mirrored * beam_mass),
    ):
        stiffness[np.ix_(at, at)], mass[np.ix_(at, at)] = k, m
    along = line / h
    across = np.cross(along, np.eye(3)[np.argmin(abs(along))])
    across /= np.linalg.norm(across)
    turn = np.kron(np.eye(4), [along, across, np.cross(along, across)])
    return turn.T @ stiffness @ turn, turn.T @ mass @ turn

"""Explorers: one HTML file with the map of a sweep and the kernel that computed it."""

from sweep.explorers.making import explore

__all__ = ["explore"]

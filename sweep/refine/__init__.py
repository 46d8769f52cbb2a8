"""Refined sweeps: cells of a grid, which points come next, and the passes that compute them."""

"""Points of samples: sequences, distributions, and columns drawn part by part.

A column follows from the recipe of its axis alone, with the same bits on every machine.
"""

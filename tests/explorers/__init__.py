"""Explorers: what is in the page, and what a browser makes of it."""

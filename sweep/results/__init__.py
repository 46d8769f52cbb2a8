"""Results after a run: what they contain, other formats, one point over time, wear over years."""

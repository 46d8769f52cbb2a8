"""How points are computed: the text of kernels, and the backends that run it."""

"""DumbBot on the fast board: the same orders from the same keys, compiled by numba."""

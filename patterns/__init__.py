"""What to look for: the language, the catalog, the automata and the kernels. Pure: numpy, numba, lark."""

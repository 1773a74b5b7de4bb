"""Automata over symbols: construction, determinisation, minimisation, and the tables that kernels run."""

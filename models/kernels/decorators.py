"""How the kernels of this folder are compiled."""

from numba import njit

compiled = njit(cache=True, error_model="numpy", _nrt=False)
"""For kernels that allocate nothing: numba then counts no references."""

inlined = njit(cache=True, error_model="numpy", _nrt=False, inline="always")
"""For the steps of a kernel."""

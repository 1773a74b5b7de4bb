"""The event path of forecasting, and what else must be fast, as numba kernels over whole arrays."""

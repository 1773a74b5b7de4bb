"""Measures on the WGS84 spheroid as numba kernels over whole arrays: no Spark, no objects per position."""

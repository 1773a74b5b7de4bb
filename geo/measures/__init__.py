"""Measures on the WGS84 spheroid as numba kernels over whole arrays: no Spark, no objects per position."""

from pathlib import Path

from foresail.geo.measures.stale import discard_stale

discard_stale(Path(__file__).parent)

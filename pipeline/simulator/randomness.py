"""Random numbers that depend on the seed and on what they are for, never on who draws first."""

import zlib

import numpy as np


def generator(seed: int, purpose: str, number: int = 0) -> np.random.Generator:
    """A generator of its own for each purpose and number (a track, a meeting): the same on every machine."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, zlib.crc32(purpose.encode()), number])))

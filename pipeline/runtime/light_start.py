"""A quick start for commands that answer in a second: what pyarrow and numba import just in case is left for later.

pyarrow imports pandas with its first array, to know its objects; numba imports scipy's linear algebra with its first
kernel, to be able to multiply matrices. Together they take as long as all else that such a command does, which has
neither frames nor matrices. Whoever needs pandas or scipy afterwards imports them as ever.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def start_light() -> None:
    """Let pyarrow and numba find neither pandas nor scipy's linear algebra, unless these are there already."""
    with _absent("pandas"):
        import pyarrow as pa  # noqa: PLC0415 - after pandas is out of the way

        pa.array([0])
    with _absent("scipy.linalg"):
        import numba.np.arraymath  # noqa: F401, PLC0415


class _Absent:
    """A finder that says of one module that it cannot be found."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Nothing, for every other module: those are found as ever."""
        del path, target
        if name == self._name:
            raise ModuleNotFoundError(name=name)


@contextmanager
def _absent(name: str) -> Iterator[None]:
    """Let an import of the module fail within the block, unless it was imported before."""
    finder = _Absent(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)

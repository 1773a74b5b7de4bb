"""The kernels of forecasting are compiled once, for one signature each."""

from foresail.models.kernels.compilation import KERNELS


def test_every_kernel_has_one_signature() -> None:
    assert all(len(ready().signatures) == 1 for ready in KERNELS.values())  # type: ignore[attr-defined]

"""The kernels of this folder by name, to be compiled ahead."""

from collections.abc import Callable

from foresail.patterns.recognition.compilation import Kernel
from foresail.pipeline.stream.messages.scan_kernel import scan_kernel
from foresail.pipeline.stream.messages.text_kernels import gather_kernel, instant_kernel, place_kernel

KERNELS: dict[str, Callable[[], Kernel]] = {
    "messages": scan_kernel,
    "texts": gather_kernel,
    "instants": instant_kernel,
    "buckets": place_kernel,
}

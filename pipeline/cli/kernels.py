"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

from collections.abc import Callable

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.progress import open_progress


@click.command()
@quiet_option
def command(quiet: bool) -> None:
    """Compile all kernels (recognition, forecasting, messages, alerts, feeds) for this machine, once; they are kept."""
    from foresail.models.kernels.compilation import KERNELS as FORECASTING
    from foresail.patterns.conditions.bins import bin_kernels
    from foresail.patterns.recognition.compilation import KERNELS as RECOGNITION
    from foresail.pipeline.feeds.cell_kernels import KERNELS as CELLS
    from foresail.pipeline.feeds.settle_kernels import KERNELS as SETTLING
    from foresail.pipeline.stream.alerts.kernel import KERNELS as ALERTS
    from foresail.pipeline.stream.messages.scanning import KERNELS as MESSAGES

    progress = open_progress(quiet)
    stream = {**MESSAGES, **ALERTS}
    feeds = {**CELLS, **SETTLING}
    kernels: dict[str, Callable[[], object]] = {
        **RECOGNITION,
        **FORECASTING,
        "conditions": bin_kernels,
        **stream,
        **feeds,
    }
    for name, compile_kernel in kernels.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

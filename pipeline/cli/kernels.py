"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

from collections.abc import Callable

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.progress import open_progress


@click.command()
@quiet_option
def command(quiet: bool) -> None:
    """Compile the kernels of recognition, forecasting, messages and alerts for this machine, once; they are kept."""
    from foresail.models.kernels.compilation import KERNELS as FORECASTING
    from foresail.patterns.conditions.bins import bin_kernels
    from foresail.patterns.recognition.compilation import KERNELS as RECOGNITION
    from foresail.patterns.spaseq.column_kernel import KERNELS as SPASEQ
    from foresail.pipeline.stream.alerts.kernel import KERNELS as ALERTS
    from foresail.pipeline.stream.messages.scanning import KERNELS as MESSAGES

    progress = open_progress(quiet)
    stream = {**MESSAGES, **ALERTS}
    kernels: dict[str, Callable[[], object]] = {**RECOGNITION, **SPASEQ, **FORECASTING}
    kernels |= {"conditions": bin_kernels, **stream}
    for name, compile_kernel in kernels.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

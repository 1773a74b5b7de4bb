"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

from collections.abc import Callable

import click

from foresail.pipeline.cli.groups import quiet_option
from foresail.pipeline.progress import open_progress


@click.command()
@quiet_option
def command(quiet: bool) -> None:
    """Compile the kernels of feeds, recognition, forecasting and the live line for this machine, once and for all."""
    from foresail.models.kernels.compilation import KERNELS as FORECASTING
    from foresail.patterns.conditions.bins import bin_kernels
    from foresail.patterns.recognition.compilation import KERNELS as RECOGNITION
    from foresail.patterns.spaseq.column_kernel import KERNELS as QUERIES
    from foresail.patterns.tesla.compilation import KERNELS as RULES
    from foresail.pipeline.feeds.cell_kernels import KERNELS as CELLS
    from foresail.pipeline.feeds.settle_kernels import KERNELS as SETTLING
    from foresail.pipeline.results.id_kernel import KERNELS as IDS
    from foresail.pipeline.stream.alerts.kernel import KERNELS as ALERTS
    from foresail.pipeline.stream.messages.scanning import KERNELS as MESSAGES

    progress = open_progress(quiet)
    kernels: dict[str, Callable[[], object]] = {
        **RECOGNITION,
        **RULES,
        **QUERIES,
        **FORECASTING,
        "conditions": bin_kernels,
        **CELLS,
        **SETTLING,
        **MESSAGES,
        **ALERTS,
        **IDS,
    }
    for name, compile_kernel in kernels.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

from collections.abc import Callable

import click

from pipeline.progress import open_progress


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(quiet: bool) -> None:
    """Compile the kernels of recognition, forecasting and alerts for this machine, once; they are kept on disk."""
    from models.kernels.compilation import KERNELS as FORECASTING
    from patterns.conditions.bins import bin_kernels
    from patterns.recognition.compilation import KERNELS as RECOGNITION
    from pipeline.stream.alerts.kernel import KERNELS as ALERTS

    progress = open_progress(quiet)
    kernels: dict[str, Callable[[], object]] = {**RECOGNITION, **FORECASTING, "conditions": bin_kernels, **ALERTS}
    for name, compile_kernel in kernels.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

import click

from pipeline.progress import open_progress


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(quiet: bool) -> None:
    """Compile the kernels of recognition and forecasting for this machine, once; they are kept on disk."""
    from models.kernels.compilation import KERNELS as FORECASTING
    from patterns.recognition.compilation import KERNELS as RECOGNITION

    progress = open_progress(quiet)
    for name, compile_kernel in (RECOGNITION | FORECASTING).items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

import click

from pipeline.progress import open_progress


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(quiet: bool) -> None:
    """Compile the recognition kernels for this machine, once; they are kept on disk."""
    from patterns.recognition.compilation import KERNELS

    progress = open_progress(quiet)
    for name, compile_kernel in KERNELS.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

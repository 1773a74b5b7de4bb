"""`foresail kernels`: compile the kernels, so that no job has to wait for it."""

from collections.abc import Callable

import click

from pipeline.progress import open_progress


@click.command()
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(quiet: bool) -> None:
    """Compile the recognition kernels for this machine, once; they are kept on disk."""
    from patterns.conditions.bins import bin_kernels
    from patterns.recognition.compilation import KERNELS

    progress = open_progress(quiet)
    kernels: dict[str, Callable[[], object]] = {**KERNELS, "conditions": bin_kernels}
    for name, compile_kernel in kernels.items():
        with progress.step(f"compiling the kernel for {name}"):
            compile_kernel()

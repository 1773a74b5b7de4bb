"""`python -m foresail` is the command `foresail`."""

from foresail.pipeline.cli import main

main()

"""One pattern's fault leaves the other patterns of a job alone: it is reported, and they go on."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from foresail.models.errors import ModelError
from foresail.patterns.errors import PatternError
from foresail.pipeline.errors import InputError, PipelineError
from foresail.pipeline.progress import Progress

_LOG = logging.getLogger(__name__)
OF_SPARK = ("pyspark", "py4j")


@contextmanager
def apart(pattern: str, left_out: dict[str, str], progress: Progress) -> Iterator[None]:
    """Work on one pattern; where it fails, the reason stands in `left_out` and what follows the block goes on."""
    try:
        yield
    except Exception as error:  # whatever is wrong with one pattern, the others must not pay for it
        if _of_all(error):
            raise
        _LOG.debug("pattern=%s fault", pattern, exc_info=True)
        left_out[pattern] = reason_of(error)
        progress.say(f"{pattern} is left out: {left_out[pattern]}")


def _of_all(error: Exception) -> bool:
    """Whether it is no pattern's fault: a full disk or a lost Spark, which the next one would meet too."""
    return isinstance(error, OSError) or any(k.__module__.startswith(OF_SPARK) for k in type(error).__mro__)


def reason_of(error: Exception) -> str:
    """One line that says why: what the user can mend as it is told, any other fault with its kind."""
    message = " ".join(str(error).split())
    if isinstance(error, (ModelError, PatternError, PipelineError)):
        return message
    return f"{type(error).__name__}: {message}. This is a fault of the program: please report it."


def some_of(done: Sequence[Any], what: str, left_out: dict[str, str]) -> None:
    """Refuse a job that did nothing: every pattern was left out."""
    if not done:
        msg = f"events: none of the patterns can be {what}: " + " ".join(left_out.values())
        raise InputError(msg)

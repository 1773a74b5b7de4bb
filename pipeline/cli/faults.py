"""How a command that fails says so: one line a user can act on, and the exit code.

Log lines on standard error: ours begin with `foresail:`, those of a library with the library's own name.
"""

import errno
import logging
import sys

INTERRUPTED = 130
FAILED = 1
WAYS_OUT = {
    errno.ENOSPC: "Free some space and try again.",
    errno.EDQUOT: "Free some space and try again.",
    errno.EACCES: "Set its rights, or name another place.",
    errno.EPERM: "Set its rights, or name another place.",
    errno.EROFS: "Name a place that can be written.",
    errno.ENOENT: "Check the name.",
}


def sentence_of(error: BaseException) -> str | None:
    """One line that tells of `error` and the way out; None for a fault of the program itself, which needs its trace."""
    if _is_ours(error):
        return str(error)
    if isinstance(error, OSError):
        return _of_system(error)
    if _is_from_spark(error):
        from foresail.pipeline.runtime.java_process import one_line

        return f"spark: {one_line(error)}. Run `foresail --verbose ...` for all it says."
    return None


def _is_ours(error: BaseException) -> bool:
    """Whether `error` was raised as a fault that the user can mend: each folder's root error ends in its own name."""
    # told by name: importing every folder's errors here would load them all for `foresail --help`
    roots = {"PipelineError", "PatternError", "ModelError", "GeoError", "YamlError"}
    return any(kind.__name__ in roots and kind.__module__.startswith("foresail.") for kind in type(error).__mro__)


def _of_system(error: OSError) -> str:
    place = error.filename2 or error.filename or "the machine"
    what = error.strerror or str(error) or type(error).__name__
    way_out = WAYS_OUT.get(error.errno or 0, "Check the place and try again.")
    return f"{place}: {what}. {way_out}"


def _is_from_spark(error: BaseException) -> bool:
    spark, py4j = sys.modules.get("pyspark.errors"), sys.modules.get("py4j.protocol")
    return bool(spark and isinstance(error, spark.PySparkException)) or bool(
        py4j and isinstance(error, py4j.Py4JError | py4j.Py4JNetworkError)
    )


CHATTY = ("kafka",)
"""Libraries that tell of every try again what reaches us as an error anyway; heard only with --verbose."""


class NamedByPackage(logging.Formatter):
    """`foresail: ...` for our own lines, `kafka: ...` for those of kafka-python."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, with whose it is in front."""
        return f"{record.name.partition('.')[0]}: {super().format(record)}"


def show_log_lines(verbose: bool) -> None:
    """Send log lines to standard error: warnings, and with `verbose` all of ours and what chatty libraries say."""
    handler = logging.StreamHandler()
    handler.setFormatter(NamedByPackage("%(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("foresail").setLevel(logging.INFO if verbose else logging.WARNING)
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING if verbose else logging.CRITICAL)

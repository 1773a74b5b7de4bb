"""Log lines on standard error: ours begin with `foresail:`, those of a library with the library's own name."""

import logging

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

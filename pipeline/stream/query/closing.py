"""Stopping a query between two micro-batches: what is being written is not interrupted, and nothing waits for ever."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class ClosedError(Exception):
    """A micro-batch came to be written after the line was closed."""


class WriteGate:
    """What is written goes through it, one micro-batch at a time, until it is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False

    def passing(self, write: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        """`write` for as long as the door is open."""

        def pass_through(rows: Any, batch: int) -> None:
            with self._lock:
                if self._closed:
                    raise ClosedError
                write(rows, batch)

        return pass_through

    def close(self, query: "StreamingQuery", spark: "SparkSession") -> None:
        """Stop the query, which interrupts whatever it finds, when nothing is being written.

        A micro-batch that is being planned cannot be interrupted: it goes on until it is to be written, and stop waits
        for it. So the lock must not be held meanwhile; that micro-batch is refused, is not committed, and comes again
        after a restart.
        """
        with self._lock:
            self._closed = True
        spark.sparkContext.setLogLevel("OFF")  # the refusal is no news to a user
        query.stop()
        spark.sparkContext.setLogLevel("WARN")

"""Faults of a running Spark job as sentences: what went wrong in a worker far away, and which setting mends it."""

import re

from foresail.pipeline.errors import InputError, OutputError, PipelineError
from foresail.pipeline.runtime.java_process import one_line

OURS = re.compile(r"^foresail\.[\w.]*\b(\w*Error): (.+)$", re.MULTILINE)
DENIED = re.compile(r"(?:PermissionError|OSError): \[Errno (?:13|28|30)\] ([^:\n]+): '([^'\n]+)'")
FULL_HEAP = "exited with code 52"
"""How Spark's executors end when their heap is full; of a lost one the driver is told no more than that."""
JAVA_MEMORY = ("java.lang.OutOfMemoryError", "Java heap space", "GC overhead", "UNABLE_TO_ACQUIRE_MEMORY", FULL_HEAP)
PYTHON_MEMORY = ("MemoryError", "ArrowMemoryError", "Unable to allocate", "realloc of size", "malloc of size")
PLAN = "=== Streaming Query ==="
RAISED = re.compile(r"^(?!java\.|org\.|scala\.|py4j\.)((?:\w+\.)*\w*(?:Error|Exception): .+)$", re.MULTILINE)
"""The last line of a Python trace; what Java says stands behind the names of its packages."""
QUERY = re.compile(r".*terminated with exception: ")
KILLED = ("Python worker exited unexpectedly", "ExecutorLostFailure", "exit status: 137", "Worker is lost")


def explained(error: BaseException, master: str) -> PipelineError | None:
    """The fault as one line with the way out; None where the error says nothing that is known."""
    text = f"{error}\n{getattr(error, 'desc', '') or ''}"
    ours = OURS.findall(text)
    if ours:
        kind, said = ours[-1]
        return OutputError(said) if kind == "OutputError" else InputError(said)
    denied = DENIED.search(text)
    if denied:
        return OutputError(f"{denied[2]}: {denied[1]}. Name another folder for --out, or make room and set its rights.")
    if any(sign in text for sign in JAVA_MEMORY):
        return PipelineError(f"spark: an executor ran out of memory. {_java_way_out(master)}")
    if any(sign in text for sign in PYTHON_MEMORY):
        return PipelineError(f"spark: a Python worker ran out of memory. {_python_way_out()}")
    if any(sign in text for sign in KILLED):
        msg = f"spark: workers were lost again and again; often the machine ran out of memory. {_python_way_out()}"
        return PipelineError(msg)
    return None


def cause_of(error: BaseException) -> str:
    """What is at the root of an error of a query, in one line: never a part of the plan that Spark prints after it."""
    message = explained(error, "local")
    if message is not None:
        return str(message).rstrip(".")
    raised = RAISED.findall(str(error).split(PLAN)[0])
    return (raised[-1] if raised else QUERY.sub("", one_line(error))).strip().rstrip(".")[:300]


def _java_way_out(master: str) -> str:
    if master.startswith("local") and not master.startswith("local-cluster"):
        return "Raise spark.driver_memory in the settings, which in local mode is the memory of all work."
    return "Raise it with --conf spark.executor.memory=4g, or take more of them."


def _python_way_out() -> str:
    return (
        "Run fewer at once (--master local[1], or --conf spark.executor.cores=1), "
        "or lower spark.arrow_batch_rows in the settings."
    )

"""What is seen of a Spark job while it runs (stages, tasks, events, matches), and what its stages took in the end."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import SparkContext

from foresail.pipeline.progress import PLAIN_LINE_EVERY_S, Progress

LOOK_EVERY_S = 0.5


@contextmanager
def watched(
    context: SparkContext, progress: Progress, text: str, counted: Callable[[], Counter[tuple[str, str]]]
) -> Iterator[dict[str, float]]:
    """Show how far the jobs of the block are; the seconds of each Spark stage are in the dictionary when it ends."""
    group = f"foresail-{id(counted)}-{time.monotonic_ns()}"
    context.setJobGroup(group, text)
    over, began, seconds = threading.Event(), progress.clock(), dict[str, float]()
    watcher = threading.Thread(target=_watch, args=(context, group, progress, text, counted, over), daemon=True)
    watcher.start()
    try:
        yield seconds
    except BaseException:
        over.set()
        watcher.join(2 * LOOK_EVERY_S)
        raise
    over.set()
    watcher.join()
    context._jsc.clearJobGroup()
    seconds.update(_stage_seconds(context, group))
    progress.say(f"{text}: {_amounts(counted())}, {progress.clock() - began:.1f} s")


def _watch(
    context: SparkContext,
    group: str,
    progress: Progress,
    text: str,
    counted: Callable[[], Counter[tuple[str, str]]],
    over: threading.Event,
) -> None:
    if progress.console is None:
        return
    status = progress.console.status(text) if progress.console.is_terminal else None
    if status:
        status.start()
    last = progress.clock()
    while not over.wait(LOOK_EVERY_S):
        try:
            line = f"{text}: {_stages(context, group)}{_amounts(counted())}"
        except Exception:
            break  # Java is gone: the job has ended
        if status:
            status.update(line)
        elif progress.clock() - last >= PLAIN_LINE_EVERY_S:
            last = progress.clock()
            progress.say(f"{line} ...")
    if status:
        status.stop()


def _amounts(counts: Counter[tuple[str, str]]) -> str:
    matches = sum(n for (kind, _), n in counts.items() if kind == "matches")
    return f"{counts['events', '']:,} events, {matches:,} matches"


def _stages(context: SparkContext, group: str) -> str:
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    every = sorted({stage for job in jobs if job for stage in job.stageIds})
    stages_info = [tracker.getStageInfo(stage) for stage in every]
    active = [info for info in stages_info if info and info.numActiveTasks]
    if not active:
        return ""
    done, tasks = sum(info.numCompletedTasks for info in active), sum(info.numTasks for info in active)
    return f"stage {every.index(active[0].stageId) + 1} of {len(every)}, {done} of {tasks} tasks, "


def _stage_seconds(context: SparkContext, group: str) -> dict[str, float]:
    """Wall seconds of each Spark stage that ran, named by its number within the job."""
    tracker = context.statusTracker()
    infos = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = sorted({stage for info in infos if info for stage in info.stageIds})
    store: Any = context._jsc.sc().statusStore()
    seconds = {}
    for number, stage in enumerate(stages, 1):
        if tracker.getStageInfo(stage) is None:
            continue  # Spark keeps no record of a stage that it could skip
        stages_info = store.lastStageAttempt(stage)
        moments = [stages_info.submissionTime(), stages_info.completionTime()]
        if all(moment.isDefined() for moment in moments):
            begun, ended = (moment.get().getTime() for moment in moments)
            seconds[f"stage {number}"] = round((ended - begun) / 1000, 3)
    return seconds

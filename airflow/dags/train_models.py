"""Daily and when events came: count the day, add up, learn per pattern, judge against the champion, promote."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, Asset, AssetOrTimeSchedule, CronDataIntervalTimetable, task_group
from foresail_command import (
    DEFAULTS,
    EVENTS,
    FROM,
    LAYERS,
    MODELS,
    PATTERNS,
    SPARK_POOL,
    TAGS,
    TO,
    TRAINING,
    Words,
    foresail,
    option,
)


def news(context: Any) -> list[str]:
    """The command that tells the stream of the new champion, up to the name of the pattern.

    Where no stream is configured there is none to tell: the log shows the model that serves.
    """
    settings, task = context["params"]["stream_settings"], context["ti"]
    if settings is None:
        return ["models", "show", f"--models={context['params']['models']}"]
    version = task.xcom_pull(task_ids="one_pattern.promote", map_indexes=task.map_index)
    return ["configure", f"--settings={settings}", f"--model-version={version}", "--pattern"]


with DAG(
    "train_models",
    schedule=AssetOrTimeSchedule(
        timetable=CronDataIntervalTimetable("0 0 * * *", timezone="UTC"), assets=[Asset("foresail_events")]
    ),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=[*TAGS, "models"],
    params=TRAINING,
    doc_md="""
### Models that age are learned anew
1. **count** the events of the day, with Spark, once for all patterns: a day that is counted again replaces itself.
   A run that new events have started counts the days they are of, today as far as it has come.
2. **merge** the counts of all days.
3. for each pattern, on its own: **learn** a challenger (order, smoothing and threshold searched on held-out tracks),
   **evaluate** it and the champion on other held-out tracks, **promote** it if it is better by `margin`, else keep the
   champion and say why (the task is then skipped), and **tell** the running stream.

A pattern whose learning fails does not stop the others. Undo a promotion with `foresail models rollback PATTERN`.
""",
):
    count = foresail(
        "count",
        *("train", "--count-only", EVENTS, PATTERNS, LAYERS, MODELS, FROM, TO, "--each-day", "--json"),
        pool=SPARK_POOL,
        doc_md="The day's events as counts, and a sample of the tracks that are never counted.",
    )
    merge = foresail(
        "merge",
        *("models", "merge", PATTERNS, MODELS, FROM, TO, option("half-life-days"), "--json"),
        output_processor=lambda line: json.loads(line)["patterns"],
        doc_md="The counts of all days as one; returns the patterns that were counted: without events, none.",
    )

    @task_group
    def one_pattern(pattern: str) -> None:
        """Everything that concerns one pattern alone."""
        words = (pattern, PATTERNS, MODELS, TO, "--json")
        learn = foresail(
            "learn",
            *("models", "learn", *words, option("budget")),
            execution_timeout=timedelta(minutes=30),
            doc_md="The best model of the search waits as challenger.",
        )
        evaluate = foresail("evaluate", "models", "evaluate", *words, doc_md="Both on the newest held-out tracks.")
        promote = foresail(
            "promote",
            *("models", "promote", pattern, MODELS, option("if-better", "margin"), option("metric")),
            *("--exit-code", "--json"),
            output_processor=lambda line: json.loads(line)["promoted"],
            doc_md="Better by the margin: promoted. Else skipped, and the log says why.",
        )
        tell = foresail(
            *("tell", Words(news), pattern, "--json"),
            doc_md="The new champion's version, through the control topic.",
        )
        learn >> evaluate >> promote >> tell

    count >> merge
    one_pattern.expand(pattern=merge.output)

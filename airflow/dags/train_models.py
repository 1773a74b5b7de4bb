"""Daily and when events came: count the day, add up, learn per pattern, judge against the champion, promote."""

import json
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, Asset, AssetOrTimeSchedule, CronDataIntervalTimetable, task_group
from foresail_command import (
    DEFAULTS,
    FROM_TO,
    LAYERS,
    MODELS,
    PATTERNS,
    SPARK_POOL,
    TAGS,
    TO,
    TRAINING,
    foresail,
    interval_of,
)

VERSION = "{{ ti.xcom_pull(task_ids='one_pattern.promote', map_indexes=ti.map_index) }}"
TELL = (
    "{% if params.stream_settings %}configure --settings '{{ params.stream_settings }}'"
    f' --pattern "$PATTERN" --model-version {VERSION} --json'
    f'{{% else %}}models show "$PATTERN" {MODELS} --json{{% endif %}}'
)
"""Where no stream is configured there is none to tell: the log shows the model that serves."""

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
    user_defined_macros={"interval": interval_of},
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
        f"train --count-only --events '{{{{ params.events }}}}' {PATTERNS}{LAYERS} {MODELS} {FROM_TO}"
        " --each-day --json",
        pool=SPARK_POOL,
        doc_md="The day's events as counts, and a sample of the tracks that are never counted.",
    )
    merge = foresail(
        "merge",
        f"models merge {PATTERNS} {MODELS} {FROM_TO} --json"
        "{% if params.half_life_days %} --half-life-days {{ params.half_life_days }}{% endif %}",
        output_processor=lambda line: json.loads(line)["patterns"],
        doc_md="The counts of all days as one; returns the patterns that were counted: without events, none.",
    )

    @task_group
    def one_pattern(pattern: str) -> None:
        """Everything that concerns one pattern alone."""
        env = {"PATTERN": pattern}
        words = f'"$PATTERN" {PATTERNS} {MODELS} {TO} --json'
        learn = foresail(
            "learn",
            f"models learn {words} --budget {{{{ params.budget }}}}",
            env=env,
            execution_timeout=timedelta(minutes=30),
            doc_md="The best model of the search waits as challenger.",
        )
        evaluate = foresail(
            "evaluate", f"models evaluate {words}", env=env, doc_md="Both on the newest held-out tracks."
        )
        promote = foresail(
            "promote",
            f'models promote "$PATTERN" {MODELS} --if-better {{{{ params.margin }}}}'
            " --metric {{ params.metric }} --exit-code --json",
            env=env,
            output_processor=lambda line: json.loads(line)["promoted"],
            doc_md="Better by the margin: promoted. Else skipped, and the log says why.",
        )
        tell = foresail("tell", TELL, env=env, doc_md="The new champion's version, through the control topic.")
        learn >> evaluate >> promote >> tell

    count >> merge
    one_pattern.expand(pattern=merge.output)

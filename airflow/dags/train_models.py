"""Daily: count the day, add the counts up, learn per pattern, judge against the champion, promote what is better."""

import json
from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, CronDataIntervalTimetable, Param, task_group
from foresail_command import (
    DEFAULTS,
    FROM_TO,
    LAYERS,
    MODELS,
    PATTERNS,
    PLACE,
    SPARK_POOL,
    TAGS,
    TO,
    events_param,
    foresail,
    layers_param,
    metric_param,
    models_param,
    patterns_param,
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
    schedule=CronDataIntervalTimetable("0 0 * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=[*TAGS, "models"],
    params={
        "events": events_param,
        "models": models_param,
        "patterns": patterns_param,
        "layers": layers_param,
        "margin": Param(0.01, type="number", minimum=0, description="By how much a challenger must be better."),
        "metric": metric_param,
        "budget": Param(12, type="integer", minimum=1, maximum=200, description="Settings that are tried per pattern."),
        "half_life_days": Param(None, type=["null", "number"], exclusiveMinimum=0, description="Old counts fade."),
        "stream_settings": Param(
            None, type=["null", "string"], pattern=PLACE, description="The settings file of the stream to tell."
        ),
    },
    doc_md="""
### Models that age are learned anew
1. **count** the events of the day, with Spark, once for all patterns: a day that is counted again replaces itself.
2. **merge** the counts of all days.
3. for each pattern, on its own: **learn** a challenger (order, smoothing and threshold searched on held-out tracks),
   **evaluate** it and the champion on other held-out tracks, **promote** it if it is better by `margin`, else keep the
   champion and say why (the task is then skipped), and **tell** the running stream.

A pattern whose learning fails does not stop the others. Undo a promotion with `foresail models rollback PATTERN`.
""",
):
    count = foresail(
        "count",
        f"train --count-only --events '{{{{ params.events }}}}' {PATTERNS}{LAYERS} {MODELS} {FROM_TO} --json",
        pool=SPARK_POOL,
        doc_md="The day's events as counts, and a sample of the tracks that are never counted.",
    )
    merge = foresail(
        "merge",
        f"models merge {MODELS} {TO} --json"
        "{% if params.half_life_days %} --half-life-days {{ params.half_life_days }}{% endif %}",
        output_processor=lambda line: json.loads(line)["patterns"],
        doc_md="The counts of all days as one; returns the patterns that were counted.",
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

"""Hourly: the hour's files of a feed become events. What was read is skipped, so any hour can be run again."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk import DAG, Asset, CronDataIntervalTimetable, Param
from foresail_command import (
    DEFAULTS,
    DOMAIN,
    HOME,
    HOUR,
    SPARK_POOL,
    TAGS,
    Words,
    events_param,
    foresail,
    interval_of,
    option,
)

EVENTS = Asset("foresail_events")


def tell_interval(context: Any, result: dict[str, Any]) -> None:
    """Say with the update of the asset which hour came, so that who follows it knows the day."""
    begin, end = interval_of(context["dag_run"], unit=HOUR)
    extra = {"from": f"{begin}+00:00", "to": f"{end}+00:00", "rows": result["rows_out"]}
    context["outlet_events"][EVENTS].extra = extra


def files_of_the_hour(context: Any) -> list[str]:
    """`--input=FOLDER/2026-03-02T05*`."""
    hour, _ = interval_of(context["dag_run"], unit=HOUR)
    return [f"--input={context['params']['input']}/{hour[:13]}*"]


with DAG(
    "ingest_feeds",
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    tags=[*TAGS, "ingest"],
    params={
        "feed": Param("canonical", type="string", description="The feed, as `foresail ingest --list` names it."),
        "domain": Param(
            DOMAIN,
            type=["null", "string"],
            enum=[None, "maritime", "fleet"],
            description="Whose rules cleaning follows.",
        ),
        "input": Param(f"{HOME}/feed", type="string", description="Folder of files named after hours."),
        "events": events_param,
    },
    doc_md="""
### Events of the last hour
Reads the files `INPUT/2026-03-02T05*` of the hour into the folder of events (`foresail ingest --append`). A file that
was read before is skipped: a run can be repeated, and hours can be backfilled in any order. An hour in which nothing
new came is no fault: the task is skipped, and its log says so. Otherwise the asset `foresail_events` is updated, which
starts `train_models` for the day.
""",
):
    ingest = foresail(
        "ingest",
        *("ingest", option("domain"), option("from", "feed"), Words(files_of_the_hour)),
        *("--append", "--allow-empty", "--exit-code", option("out", "events"), "--json"),
        pool=SPARK_POOL,
        execution_timeout=timedelta(minutes=50),
        outlets=[EVENTS],
        output_processor=json.loads,
        post_execute=tell_interval,
        doc_md="The hour's files, cleaned; rejected rows are kept with their reason. Skipped when nothing new came.",
    )

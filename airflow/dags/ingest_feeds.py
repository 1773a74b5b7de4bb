"""Hourly: the hour's files of a feed become events. What was read is skipped, so any hour can be run again."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, Asset, CronDataIntervalTimetable, Param
from foresail_command import DEFAULTS, HOME, PLACE, SPARK_POOL, TAGS, events_param, foresail

EVENTS = Asset("foresail_events")
HOUR = "{{ data_interval_start.strftime('%Y-%m-%dT%H') }}"

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
        "input": Param(f"{HOME}/feed", type="string", pattern=PLACE, description="Folder of files named after hours."),
        "events": events_param,
    },
    doc_md="""
### Events of the last hour
Reads the files `INPUT/2026-03-02T05*` of the hour into the folder of events (`foresail ingest --append`). A file that
was read before is skipped: a run can be repeated, and hours can be backfilled in any order. An hour without files is no
fault. Updates the asset `foresail_events`.
""",
):
    ingest = foresail(
        "ingest",
        f"ingest --from '{{{{ params.feed }}}}' --input '{{{{ params.input }}}}/{HOUR}*'"
        " --append --allow-empty --out '{{ params.events }}' --json",
        pool=SPARK_POOL,
        execution_timeout=timedelta(minutes=50),
        outlets=[EVENTS],
        doc_md="The hour's files, cleaned; rejected rows are kept with their reason.",
    )

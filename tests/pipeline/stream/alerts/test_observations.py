"""Every alert that leaves the line is as docs/alert.schema.json says."""

import json
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pyarrow as pa
import pytest

from foresail.patterns.catalog.loader import built_in_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.pipeline.settings import AlertSettings
from foresail.pipeline.stream.alerts import AlertMaker, AlertRules, alert_payloads, fresh_alert_state, judge_models
from foresail.pipeline.stream.alerts.degraded import ModelScore
from tests.models.forecasting import model_of, random_text
from tests.models.letters import lettered
from tests.pipeline.stream.alerts.alert_rows import alerts_of, entry_of, forecast, maker_of, match, table

SCHEMA = json.loads((Path(__file__).parents[4] / "docs" / "alert.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def valid(alerts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for alert in alerts:
        VALIDATOR.validate(json.loads(json.dumps(alert, allow_nan=False)))
    return alerts


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_alerts_of_matches_are_as_the_schema_says() -> None:
    alerts = valid(
        alerts_of(maker_of(entry_of()), [match(0, "opened", instance="Brest"), match(6), match(6, "closed")])
    )
    assert [alert["reason"] for alert in alerts] == ["speed_kn 3.25 (< 5), depth_m 4,100 (> 10)"] * 3
    assert {alert["severity"] for alert in alerts} == {"critical"}
    assert {alert["link"] for alert in alerts} == {"docs/catalog/slow.md"}
    assert {alert["says"] for alert in alerts} == {"A vessel is slow."}


def test_alerts_of_forecasts_are_as_the_schema_says() -> None:
    maker = maker_of(entry_of(), raise_events=1)
    rows = [forecast(0, 0.6, earliest=2, latest=5, earliest_s=120.0, latest_s=float("nan")), forecast(1, 0.1)]
    opened, closed = valid(alerts_of(maker, forecasts=rows))
    assert opened["reason"] == "slow is expected in 2 to 5 events with a probability of 60%."
    assert (opened["earliest_min"], opened["latest_min"]) == (2.0, None)
    assert closed["probability"] == 0.6


def test_the_reason_of_a_forecast_is_explained_by_its_model() -> None:
    model = model_of(lettered("a ; b"), [random_text(Random(n), 80) for n in range(5)], order=2, horizon=10, within=5)
    entry = entry_of("lettered", where={"a": 'letter == "a"', "b": 'letter == "b"'}, pattern="a ; b", report="each")
    rules = AlertRules.of([entry], AlertSettings(raise_events=1), "all")
    rows = table([forecast(0, 0.6, pattern="lettered", model_version=model.version, chain_state=1)])
    alerts, _ = AlertMaker(rules, {}, {model.version: model}).advance(fresh_alert_state(), None, rows)
    (alert,) = valid(alert_payloads(alerts))
    assert "lettered is expected within 5 events with a probability of" in alert["reason"]
    assert ", because " in alert["reason"]


def test_alerts_about_models_are_as_the_schema_says() -> None:
    scores = [ModelScore("slow", 1, "slow-v1-0001-abcdef", mcc, n) for n, mcc in enumerate((0.8, 0.7, 0.6, 0.55, 0.75))]
    judged = judge_models(scores, {}, drop=0.15)
    opened, closed = valid(judged.alerts)
    assert (opened["status"], closed["status"]) == ("opened", "closed")
    assert opened["alert_id"] == closed["alert_id"]
    assert opened["reason"] == "the rolling MCC of slow is 0.60, its best was 0.80"


def test_a_new_model_ends_the_alert_about_the_old_one() -> None:
    bad = [ModelScore("slow", 1, "slow-v1-0001-abcdef", mcc, n) for n, mcc in enumerate((0.8, 0.5))]
    judged = judge_models(bad, {}, drop=0.15)
    after = judge_models([ModelScore("slow", 1, "slow-v1-0002-123456", 0.4, 9)], judged.models, drop=0.15)
    (closed,) = valid(after.alerts)
    assert (closed["status"], closed["model_version"]) == ("closed", "slow-v1-0001-abcdef")
    assert after.models["slow"].since_us is None


def test_every_built_in_pattern_has_rules_and_a_page() -> None:
    entries = list(built_in_catalog())
    rules = AlertRules.of(entries, AlertSettings())
    for entry, rule in zip(entries, rules.patterns, strict=True):
        assert (Path(__file__).parents[4] / rule.link).is_file()
        assert entry.alert is None or rule.severity == entry.alert.severity


def test_a_row_that_lacks_a_column_is_told() -> None:
    rows = table([match(0)])
    assert isinstance(rows, pa.Table)
    with pytest.raises(AssertionError, match="start_time_us"):
        maker_of(entry_of()).advance(fresh_alert_state(), rows.drop_columns(["start_time_us"]), None)


def test_conditions_of_every_built_in_pattern_can_be_told() -> None:
    from foresail.pipeline.stream.alerts import attributes_in_reasons

    for entry in built_in_catalog():
        assert isinstance(attributes_in_reasons(compile_pattern(entry.spec())), tuple)

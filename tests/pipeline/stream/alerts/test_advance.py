"""The life of an alert: dwell, grouping, cool-down, hysteresis, silence; and the same alerts however rows are cut."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.pipeline.stream.alerts import alert_payloads, decode_alerts, encode_alerts, fresh_alert_state
from foresail.pipeline.stream.alerts.reasons import forecast_reasons
from tests.pipeline.stream.alerts.alert_rows import MINUTE, alerts_of, entry_of, forecast, maker_of, match, table, told


def test_an_episode_is_one_alert_that_is_opened_updated_and_closed() -> None:
    rows = [match(0, "opened"), match(2), match(6), match(6, "closed")]
    alerts = alerts_of(maker_of(entry_of()), rows)
    assert told(alerts) == [("opened", "00:00"), ("updated", "00:06"), ("closed", "00:06")]
    assert len({alert["alert_id"] for alert in alerts}) == 1
    assert [alert["change"] for alert in alerts] == [1, 2, 3]
    assert [alert["closed_because"] for alert in alerts] == [None, None, "ended"]
    assert alerts[-1]["lon"] == pytest.approx(10.06)


def test_tracks_and_instances_have_alerts_of_their_own() -> None:
    rows = [match(0, "opened"), match(0, "opened", track="b"), match(0, "opened", instance="Brest")]
    alerts = alerts_of(maker_of(entry_of()), rows)
    assert [(a["track"], a["instance"]) for a in alerts] == [("a", None), ("b", None), ("a", "Brest")]
    assert len({alert["alert_id"] for alert in alerts}) == 3


def test_an_episode_that_does_not_last_is_no_alert() -> None:
    maker = maker_of(entry_of(alert={"min_dwell": "5min"}))
    assert alerts_of(maker, [match(0, "opened"), match(4), match(4, "closed")]) == []
    assert told(alerts_of(maker, [match(0, "opened"), match(4), match(5)])) == [("opened", "00:05")]


def test_after_an_alert_comes_no_other_within_the_cool_down() -> None:
    maker = maker_of(entry_of(alert={"cool_down": "30min"}))
    first = [match(0, "opened"), match(1, "closed")]
    again = [match(20, "opened", first=20), match(29, first=20), match(29, "closed", first=20)]
    later = [match(40, "opened", first=40)]
    assert told(alerts_of(maker, first + again + later)) == [
        ("opened", "00:00"), ("closed", "00:01"), ("opened", "00:40"),
    ]  # fmt: skip


def test_what_still_holds_when_the_cool_down_is_over_is_an_alert() -> None:
    maker = maker_of(entry_of(alert={"cool_down": "30min"}))
    rows = [match(0, "opened"), match(1), match(1, "closed"), match(20, "opened", first=20), match(35, first=20)]
    assert told(alerts_of(maker, rows))[-1] == ("opened", "00:35")


def test_single_detections_make_one_alert_until_they_stop() -> None:
    maker = maker_of(entry_of(report="each"), close_after_s=600, update_every_s=0)
    rows = [match(n, "detected", first=n) for n in (0, 5, 10, 30)]
    assert told(alerts_of(maker, rows)) == [
        ("opened", "00:00"), ("updated", "00:05"), ("updated", "00:10"), ("closed", "00:20"), ("opened", "00:30"),
    ]  # fmt: skip
    assert told(alerts_of(maker, rows[:1], now=10.01)) == [("opened", "00:00"), ("closed", "00:10")]
    assert told(alerts_of(maker, rows[:1], now=10)) == [("opened", "00:00")]


def test_a_forecast_becomes_an_alert_after_some_in_a_row_and_survives_a_dip() -> None:
    maker = maker_of(entry_of(), raise_events=2, clear_events=3, update_every_s=3600)
    levels = [0.6, 0.4, 0.6, 0.6, 0.4, 0.4, 0.6, 0.4, 0.4, 0.4]
    alerts = alerts_of(maker, forecasts=[forecast(n, p) for n, p in enumerate(levels)])
    assert told(alerts) == [("opened", "00:03"), ("closed", "00:09")]
    assert [alert["kind"] for alert in alerts] == ["forecast", "forecast"]
    assert alerts[1]["closed_because"] == "cleared"


def test_a_forecast_far_below_its_threshold_ends_the_alert_at_once() -> None:
    maker = maker_of(entry_of(), raise_events=1, clear_events=10, clear_ratio=0.5)
    alerts = alerts_of(maker, forecasts=[forecast(0, 0.6), forecast(1, 0.3), forecast(2, 0.2)])
    assert told(alerts) == [("opened", "00:00"), ("closed", "00:02")]


def test_a_forecast_without_an_interval_ends_the_alert_at_once() -> None:
    maker = maker_of(entry_of(), raise_events=1, clear_events=10, clear_ratio=0.5)
    alerts = alerts_of(maker, forecasts=[forecast(0, 0.6), {**forecast(1, 0.0), "probability": None}])
    assert told(alerts) == [("opened", "00:00"), ("closed", "00:01")]


def test_the_reason_of_a_forecast_without_an_interval_is_that_there_is_none() -> None:
    rows = table([{**forecast(1, 0.0), "probability": None}])
    assert forecast_reasons(rows, {}) == ["No interval reaches the threshold for slow."]


def test_where_only_positive_forecasts_are_told_the_others_are_known_from_the_gap() -> None:
    maker = maker_of(entry_of(), emission="positive", raise_events=2, clear_events=3, update_every_s=3600)
    minutes = [0, 2, 3, 6, 10, 11]
    alerts = alerts_of(maker, forecasts=[forecast(n, 0.6) for n in minutes])
    assert told(alerts) == [("opened", "00:03"), ("closed", "00:06"), ("opened", "00:11")]


def test_where_only_changes_are_told_a_forecast_holds_until_the_next() -> None:
    maker = maker_of(entry_of(), emission="changes", clear_events=5, close_after_s=600)
    flips = [forecast(0, 0.6), forecast(60, 0.4), forecast(62, 0.6), forecast(90, 0.4)]
    assert told(alerts_of(maker, forecasts=flips, now=95)) == [("opened", "00:00"), ("updated", "01:02")]
    assert told(alerts_of(maker, forecasts=flips, now=101))[-1] == ("closed", "01:40")


def test_rows_of_patterns_without_a_rule_are_left_alone() -> None:
    assert alerts_of(maker_of(entry_of()), [match(0, "opened", pattern="other")]) == []


def test_what_is_over_and_cool_is_forgotten() -> None:
    maker = maker_of(entry_of(alert={"cool_down": "30min"}))
    _, state = maker.advance(fresh_alert_state(), table([match(0, "opened"), match(1, "closed")]), None, 2 * MINUTE)
    assert len(state) == 1
    _, state = maker.advance(state, None, None, 31 * MINUTE)
    assert len(state) == 0
    assert encode_alerts(state) == b""


STATUS = ("opened", "updated", "closed", "detected")
ROWS = st.lists(
    st.tuples(st.integers(0, 25), st.sampled_from(STATUS), st.sampled_from("ab"), st.floats(0, 1)),
    min_size=1,
    max_size=40,
)


@given(ROWS, st.lists(st.integers(0, 40), max_size=8), st.sampled_from(["all", "positive", "changes"]))
@settings(deadline=None, max_examples=150)
def test_rows_cut_into_any_micro_batches_make_the_same_alerts(
    steps: list[tuple[int, str, str, float]], cuts: list[int], emission: str
) -> None:
    maker = maker_of(
        entry_of(alert={"min_dwell": "2min", "cool_down": "20min"}),
        emission=emission,
        clear_events=3,
        update_every_s=240,
    )
    rows = _timed(steps, emission)
    whole = _advanced(maker, [rows])
    edges = sorted({0, len(rows), *(cut for cut in cuts if cut < len(rows))})
    parts = _advanced(maker, [rows[first:last] for first, last in pairwise(edges)])
    assert parts == whole


def _timed(steps: list[tuple[int, str, str, float]], emission: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A match and a forecast for each step, later and later."""
    minutes = np.cumsum([step for step, _, _, _ in steps])
    rows = []
    for minute, (_, status, track, probability) in zip(minutes, steps, strict=True):
        shown = emission != "positive" or probability >= 0.5
        emitted_forecast = forecast(int(minute), probability, track=track) if shown else {}
        rows.append((match(int(minute), status, track=track, first=int(minute) // 30 * 30), emitted_forecast))
    return rows


def _advanced(
    maker: Any, batches: list[list[tuple[dict[str, Any], dict[str, Any]]]]
) -> dict[str, list[dict[str, Any]]]:
    """All alerts by id, the state encoded between micro-batches; after each the clock is at its last event."""
    stored, alerts = b"", []
    for rows in batches:
        matches, forecasts = [m for m, _ in rows], [f for _, f in rows if f]
        made, state = maker.advance(decode_alerts(stored), table(matches), table(forecasts), matches[-1]["time_us"])
        stored = encode_alerts(state)
        alerts += alert_payloads(made)
    by_id: dict[str, list[dict[str, Any]]] = {}
    for alert in alerts:
        by_id.setdefault(alert["alert_id"], []).append(alert)
    return by_id

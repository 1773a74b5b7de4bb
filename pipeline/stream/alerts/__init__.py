"""Alerts of the live line: matches and forecasts with a severity, a life of their own and a reason in words."""

from foresail.pipeline.stream.alerts.advance import ALERT, AlertMaker
from foresail.pipeline.stream.alerts.degraded import Degradation, judge_models
from foresail.pipeline.stream.alerts.groups import AlertState, decode_alerts, encode_alerts, fresh_alert_state
from foresail.pipeline.stream.alerts.observations import alert_payloads
from foresail.pipeline.stream.alerts.reasons import attributes_in_reasons
from foresail.pipeline.stream.alerts.rules import AlertRules

__all__ = [
    "ALERT",
    "AlertMaker",
    "AlertRules",
    "AlertState",
    "Degradation",
    "alert_payloads",
    "attributes_in_reasons",
    "decode_alerts",
    "encode_alerts",
    "fresh_alert_state",
    "judge_models",
]

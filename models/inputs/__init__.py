"""What trees read of an event: its attributes and their recent past, the same numbers however events were cut."""

from foresail.models.inputs.columns import InputColumn, input_columns, usable_names
from foresail.models.inputs.plan import InputPlan, PastState, fresh_past

__all__ = ["InputColumn", "InputPlan", "PastState", "fresh_past", "input_columns", "usable_names"]

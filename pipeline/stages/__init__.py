"""The steps of the line: functions from DataFrame to DataFrame."""

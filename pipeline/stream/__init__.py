"""The live line: events in as they come, matches, forecasts and alerts out, reconfigured while it runs."""

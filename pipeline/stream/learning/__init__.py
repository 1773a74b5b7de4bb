"""Learning while the line runs: outcomes of forecasts, rolling scores, counts, new models."""

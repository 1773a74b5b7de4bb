"""How good forecasts are: truth, scores, calibration, thresholds, folds and the report. Arrays in, values out."""

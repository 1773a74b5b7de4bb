"""Recognition and forecasting in plain processes of this machine: no Spark, no Java."""

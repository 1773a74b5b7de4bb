"""What everything runs on: Spark's Java process and session, jars, workers, and the set-up of a machine."""

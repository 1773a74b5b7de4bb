"""The state of a bucket as bytes in Spark's state store."""

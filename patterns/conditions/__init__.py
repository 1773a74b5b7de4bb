"""Boolean tests on one event: one tree, read from text, checked against a schema, evaluated over arrays."""

"""Conditions of patterns over columns: Spark's, and those of Arrow tables."""

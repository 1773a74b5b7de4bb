"""Plainly written messages, read and cleaned in whole batches and carried to their buckets as one value each."""

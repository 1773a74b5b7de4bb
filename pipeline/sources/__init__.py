"""Feeds as users really have them: one small adapter each, all giving the same messages, in batch and in stream."""

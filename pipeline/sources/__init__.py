<<<<<<< HEAD
"""Feeds as users really have them: one small adapter each, all giving the same messages, in batch and in stream."""
=======
"""Where events come from: one file per feed, each a mapping to columns."""
>>>>>>> main

"""Where events come from: one file per feed, each a mapping to columns."""

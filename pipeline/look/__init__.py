"""What a file looks like, told from its first bytes without Spark: its form, its columns, and a mapping for them."""

from foresail.pipeline.look.look import Look, look_at

__all__ = ["Look", "look_at"]

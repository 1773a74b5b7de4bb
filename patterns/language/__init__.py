"""The pattern language: its tree, its parser, and the expansion of its sugar into a small core."""

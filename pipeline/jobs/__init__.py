"""Whole lines, from source to sink, as the command line starts them."""

"""Whole jobs, as the command line starts them: each one reads as the line of data."""

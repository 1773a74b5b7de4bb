"""Whole lines, each started by one command."""

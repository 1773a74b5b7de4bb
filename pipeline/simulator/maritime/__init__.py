"""Simulated vessels: the sea they sail, what they do there, and what is true of it."""

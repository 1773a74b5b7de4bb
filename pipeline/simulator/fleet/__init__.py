"""Simulated vehicles: the roads they drive, what they do there, and what is true of it."""

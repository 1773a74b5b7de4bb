"""TESLA: rule sets over tables of events, and the composite events that they give."""

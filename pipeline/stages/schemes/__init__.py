"""Parallel schemes of recognition: who reads which events, and where the events of a track come together."""

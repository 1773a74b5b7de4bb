"""Recognition over stored events: who reads which events, and where the events of a track come together."""

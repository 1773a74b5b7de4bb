"""Where: layers, measures, Sedona enrichment and proximity pairs, as Column and DataFrame functions."""

"""TESLA: rules that define composite events by selection, negation, aggregates and consumption (Cugola and Margara)."""

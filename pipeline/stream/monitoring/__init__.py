"""How the line is doing: metrics, lag, and the live table."""

"""Languages beside that of patterns, run over events: each has a runner, and rows of its own."""

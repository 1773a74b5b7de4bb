"""Running compiled patterns over tracks: tables, track state, kernels, and a plain reference of the same meaning."""

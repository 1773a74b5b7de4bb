"""The streaming query: what is read, how it is planned, and where its rows go."""

"""Other people's notations, read into the entries of our own catalog."""

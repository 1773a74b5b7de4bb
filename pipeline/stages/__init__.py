"""The steps of the line, each a function DataFrame -> DataFrame."""

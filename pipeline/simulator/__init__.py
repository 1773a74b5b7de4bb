"""The fleet simulator: seeded tracks of vessels and vehicles with a table of what is true of them."""

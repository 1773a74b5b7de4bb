"""What recognition gives: rows of matches, their columns and ids, and the positions they mark."""

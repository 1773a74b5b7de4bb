<<<<<<< HEAD
"""Whole lines, from source to sink, as the command line starts them."""
=======
"""Whole lines, each started by one command."""
>>>>>>> main

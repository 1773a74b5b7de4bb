"""The console: where every track is, what is wrong, what will be soon, why, and what was done about it."""

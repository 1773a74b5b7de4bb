"""Raw files to positions in whole batches: plain functions over arrays, for workers of Spark and for one process."""

"""SPAseq queries over files, frames and Spark: graphs are read and handed over as text, results become a table."""

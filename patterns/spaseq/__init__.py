"""SPAseq: sequences over streams of RDF graphs, joined with background knowledge.

A query is parsed, checked and planned here, and runs over graphs with the engine of the extra `rdf`.
"""

"""How it flows: settings, Spark session, sources, stages, sinks, jobs, simulator and command line."""

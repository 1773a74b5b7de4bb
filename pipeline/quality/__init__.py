"""What a feed is like: counts, intervals, gaps and coverage, as JSON for tools and as one HTML page for people."""

"""A bucket of tracks in the stream: events put in order, recognised, forecast, alerted; idle tracks evicted."""

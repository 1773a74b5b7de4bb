"""What `import foresail` offers: patterns, frames of events in, frames of matches and forecasts out."""

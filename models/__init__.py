"""What will happen: counts, suffix tree, chain, waiting times, forecasts. Pure: numpy, scipy, scikit-learn."""

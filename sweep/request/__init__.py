"""What is requested, as frozen data: sweeps, chunks of their points, options of runs."""

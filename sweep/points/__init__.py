"""What a run computes, by pure functions: chunks, the columns of their points, recipes."""

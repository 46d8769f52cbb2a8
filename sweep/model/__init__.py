"""What a model is: its table, its window of time, and where shipped and installed ones are."""

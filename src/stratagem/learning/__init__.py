"""The learner: examples in, one step of an optimiser out; it knows tokens and columns, and no games."""

"""The learner: examples in, one step of an optimizer out; it knows tokens and columns, and no games."""

"""Opponents in training: matchmakers, members of a population, their results, and the pool of a policy."""

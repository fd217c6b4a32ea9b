"""Losses: pure functions of what a model says, one a file, by name in the catalogue."""

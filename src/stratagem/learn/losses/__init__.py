"""Losses: pure functions of a model's outputs, one a file, by name in the catalogue."""

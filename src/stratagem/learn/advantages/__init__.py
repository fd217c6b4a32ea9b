"""Advantage estimators: pure functions of columns about decisions, one a file, by name in the catalogue."""

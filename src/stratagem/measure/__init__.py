"""Evaluation of play: metrics with their uncertainty, exact figures beside them, suites and tournaments."""

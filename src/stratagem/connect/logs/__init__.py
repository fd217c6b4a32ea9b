"""Readers of logs of evaluations, one file a format."""

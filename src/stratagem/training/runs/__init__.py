"""Runs: a run is a folder with settings, provenance, record, metrics and checkpoints."""

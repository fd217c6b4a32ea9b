"""Trackers: services that keep the metrics of runs beside the run's own files."""

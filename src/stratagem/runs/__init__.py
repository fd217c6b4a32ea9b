"""A run is a folder: its settings, what made it, what was played, its metrics and its checkpoints."""

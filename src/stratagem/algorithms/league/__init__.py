"""League training: a population of learners and frozen snapshots, with opponents drawn by match results."""

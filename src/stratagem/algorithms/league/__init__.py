"""League training: a population of learners and of those who no longer learn, matched by how they fare."""

"""Several learners in one repeated game, each with a clock of its own: one of them may learn how another learns."""

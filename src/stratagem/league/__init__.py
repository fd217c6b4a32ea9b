"""League: a population, its matchmaking, its results and its ratings."""

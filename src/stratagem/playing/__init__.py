"""Play of matches: one scheduler for all games and players, seatings, forks, and records."""

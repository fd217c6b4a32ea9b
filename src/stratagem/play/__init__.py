"""The table: one scheduler for all games and players, seatings, forks, and the record of what happened."""

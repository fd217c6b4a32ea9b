"""Opponents, demonstrators and safety signals of games, beside their rules: one family of games a file."""

"""Stratagem trains language models to play strategic games, and measures what they really learnt."""

__version__ = "0.1.0"

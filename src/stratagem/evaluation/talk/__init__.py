"""Figures of messages from stated policies: information, honesty, deception, effect; exact and pure functions."""

"""Figures of messages: information, honesty, deception, promises, effects, gullibility; exact, and by play."""

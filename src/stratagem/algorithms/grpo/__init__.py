"""Group-relative policy optimization on forks: play on several times from one situation, and compare."""

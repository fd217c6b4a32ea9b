"""Group-relative policy optimisation on forks: play on several times from one situation, and compare."""

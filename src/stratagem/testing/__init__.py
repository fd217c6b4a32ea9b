"""Audits of agents as tests of pytest, which loads `plugin` by an entry point."""

ASKED_AGAIN, CARD = "stratagem asked again", "stratagem card"
"""Properties of the report of a test: why its record is not used again, and the folder of the card."""

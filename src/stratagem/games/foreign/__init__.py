"""Environments of other packages, seen as games, so that the checks of games apply to them."""

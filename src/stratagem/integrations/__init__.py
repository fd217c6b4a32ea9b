"""Doors for the tools of others, each with its package as an extra."""

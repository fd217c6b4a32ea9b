"""Renamed keys and recipes: one table of old names, and the upgrade of settings that have them."""

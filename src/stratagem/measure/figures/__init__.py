"""Figures: the catalogue of what is measured, with one key, one label and one unit each."""

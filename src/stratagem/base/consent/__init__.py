"""Consent: what a recipe, a record, a run or a page may run, contact and read, decided by the place that names it.

`needs` finds what a text names, `trusted` keeps the folders that the user trusts, and `table` decides.
"""

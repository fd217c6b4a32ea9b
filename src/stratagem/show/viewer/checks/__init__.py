"""Checks of a record for defects that metrics do not show, each with links to the decisions."""

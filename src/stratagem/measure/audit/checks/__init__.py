"""Checks of an audit: each tests what several probes of one game have measured together, and asks nothing."""

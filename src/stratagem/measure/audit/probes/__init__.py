"""Probes of an audit: each asks an agent in one game and returns figures."""

"""Sweeps: from a hypothesis to runs, and from runs to a test of it."""

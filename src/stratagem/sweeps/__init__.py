"""Sweeps: from a hypothesis to runs, and from runs to a verdict on it."""

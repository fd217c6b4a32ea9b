"""Audit of an agent: how exploitable, consistent and able it is, with intervals, from its replies alone."""

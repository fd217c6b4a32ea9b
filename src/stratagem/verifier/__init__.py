"""Figures of an audit, recomputed from its record by code that shares only the rules of the games with the audit."""

"""Agents outside of this program: processes, servers and functions that answer questions of one form."""

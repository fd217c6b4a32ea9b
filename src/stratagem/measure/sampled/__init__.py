"""Exploitability of a player that can only be asked: counts of its replies, and limits that cover."""

"""Logs of evaluations that other tools wrote: scores of items by system, compared in pairs."""

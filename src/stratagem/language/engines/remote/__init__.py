"""Servers: requests, replies, retries and prices."""

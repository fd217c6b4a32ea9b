"""Engines that answer requests for model output: batches of tokens on one machine, or a server elsewhere."""

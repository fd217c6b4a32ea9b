"""Algorithms: each file reads like its paper and is made of the parts below it."""

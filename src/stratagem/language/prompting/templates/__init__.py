"""Prompt templates: styles that are text files in a small declared language, which can run nothing."""

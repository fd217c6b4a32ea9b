"""Chapters of the reference pages: one file a chapter, each a function from the code's own tables to Markdown."""

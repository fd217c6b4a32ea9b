"""Faces of an audit's card: its tables, its words and its page."""

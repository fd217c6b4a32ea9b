"""Prompts: from a seat's view to the messages of a chat model."""

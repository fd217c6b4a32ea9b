"""Prompts: from what a seat sees to the messages that a chat model gets."""

"""Sentences of languages, paraphrases and reasons, as TOML files that a translator can edit."""

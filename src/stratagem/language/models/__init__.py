"""Language models: loaded by one string, with their tokenizers and adapters.

They know tokens, not games.
"""

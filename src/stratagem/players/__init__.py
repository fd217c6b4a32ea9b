"""Players: one-line rules, search, solutions, tables, language models and people."""

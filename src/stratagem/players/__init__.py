"""Players: who sits down, from one-line rules to search, solutions and tables."""

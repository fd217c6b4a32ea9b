"""Our games and players in the interfaces of other packages; each module loads its package when it is imported."""

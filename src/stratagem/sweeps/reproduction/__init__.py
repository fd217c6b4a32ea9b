"""Published tables of papers: the runs that each needs, and its printed figures beside those of the runs."""

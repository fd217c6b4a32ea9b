"""Pages on one's own machine that show runs, records and the replies of models."""

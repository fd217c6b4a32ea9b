"""Workers: one plan of fixed shards of tables, played in this process, in several, or on a Ray cluster."""

"""Credit: which decision gets which advantage; pure functions over columns, one a file, by name in the catalogue."""

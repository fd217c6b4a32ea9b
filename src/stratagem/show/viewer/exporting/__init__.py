"""Export of replays: one file that holds the pages, their data and nothing that loads."""

"""Sections of reports, one a file; `stratagem.show.reports.catalogue` lists those of each run."""

"""Sections of reports, one a file; `stratagem.reports.catalogue` lists those of each run."""

"""What a report may show, one section a file; `stratagem.reports.catalogue` says which run has which."""

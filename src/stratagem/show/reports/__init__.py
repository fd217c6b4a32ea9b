"""Reports: a run as one page that needs no network, made of sections, one file each."""

"""Base: errors, settings, files, registries, consent and renamed names, which every other package uses."""

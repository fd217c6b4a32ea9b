"""Functions that `import stratagem` offers, and the results that they return; the command line calls them, too."""

"""Tables of figures, and their faces: terminal, notebook and page."""

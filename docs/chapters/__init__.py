"""What the reference pages are made of: one file a chapter, each a function from the code's own tables to Markdown."""

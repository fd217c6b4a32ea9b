"""Language models: prompts, token tries, models and engines, by which a question becomes a reply."""

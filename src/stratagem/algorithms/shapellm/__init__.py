"""ShapeLLM: opponent shaping in repeated games, by seats that are updated at different intervals."""

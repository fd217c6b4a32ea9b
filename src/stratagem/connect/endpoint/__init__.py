"""Endpoint: players behind OpenAI's chat protocol, so that other harnesses play against them."""

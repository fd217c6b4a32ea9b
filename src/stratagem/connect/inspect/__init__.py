"""Tasks for inspect_ai: `inspect eval stratagem/kuhn --model MODEL`."""

"""Why scripted demonstrators do what they do, in words: a file a family of games, and several ways to say it."""

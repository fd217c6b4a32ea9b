"""Token tries over `Choices`: the next possible tokens, the end of a reply, and its probability."""

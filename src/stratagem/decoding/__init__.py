"""Token tries over `Choices`: what a model may say next, when it has said it, and how likely it is to say what."""

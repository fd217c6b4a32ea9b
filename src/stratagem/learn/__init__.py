"""The learner: one optimizer step on a batch of training examples. It knows tokens and columns, and no games."""

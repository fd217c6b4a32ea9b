"""The training loop, and the stages, policies, artifacts and evaluations that every algorithm shares."""

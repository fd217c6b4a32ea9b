"""SCO-PAL: self-play, step rewards from outcomes, and refinement of the policy by them."""

"""SCO-PAL: play, estimate what each step is worth, and refine the policy by it."""

"""Opponent shaping between memory-one policies with exact values: LOLA, SOS, M-FOS and advantage alignment."""

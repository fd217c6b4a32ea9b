"""Patterns of the players that need an argument, and the games of each family of players."""

from __future__ import annotations

from stratagem.language.models.reference import NAMED
from stratagem.players.hearers import SPEAKERS

PATTERNS = (
    "human",
    "perfect",
    "mcts:100",
    "ismcts:100",
    "cfr:1000",
    "openspiel:uniform_random",
    "table:PATH",
    "noise(PLAYER, p=0.1)",
    "delay(PLAYER, rounds=1)",
    "disguise(PLAYER, seed=1)",
    "arena(MODEL)",
    "search(PLAYER, num_edits=8)",
    *(f"{talker}(PLAYER)" for talker in SPEAKERS),
    *NAMED,
    "dir:PATH",
    "hf:ID",
    "gguf:PATH",
    "run:PATH",
    "run:PATH@LABEL",
    "zoo:NAME",
    "api:MODEL@URL",
    "lm(MODEL, mode=free, style=reasoned)",
    "cmd:PROGRAM",
    "http:URL",
    "FILE.py:FUNCTION",
    "agent(AGENT, timeout=10)",
)
"""Patterns of the players that need an argument, or a game that has an oracle."""

FAMILIES = {
    "ipd": "ipd, ipd-shapellm, icg, ish, c-ipd, prisoners-dilemma and any 2x2 `matrix` with cooperative=True",
    "auction": "auction",
    "negotiation-v1": "negotiation-v1",
    "negotiation-v2": "negotiation-v2",
    "kuhn": "kuhn",
    "public-goods": "public-goods",
    "drawn": "drawn",
    "liars-dice": "liars-dice",
    "resistance": "resistance",
    "sender-receiver": "sender-receiver",
    "quiz": "quiz and rules:GAME",
    "diplomacy": "diplomacy",
}
"""Games of each family."""

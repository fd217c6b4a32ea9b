"""Games of an audit over draws, drawn again from the seed of its card, and the seed from its nonce."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.games.drawn.distribution import GameDistribution
from stratagem.games.drawn.drawing import GENERATOR
from stratagem.verifier.figure_check import FigureCheck

_LEAST_RANDOM = 0.05
"""Exploitability of random play, as a share of the payoff range, under which an audit leaves a draw out."""
_SEEDS = 2**53
_LINE_ENDS = ("", "\n", "\r\n")
"""Ends of the file of a nonce, whose SHA-256 was published."""


def check_draws(card: Mapping[str, Any], game: str) -> FigureCheck:
    """Draw the games again, and compare their names and digests with those of the card."""
    name = f"{game}: games"
    try:
        origin = card["draws"]
        if int(origin["generator"]) != GENERATOR:
            reason = f"The card is of generator {origin['generator']}, and this release has {GENERATOR}."
            return FigureCheck(name, "not recomputed", detail=reason)
        if origin["nonce"]:
            hashed = hashlib.sha256(repr((origin["agent_digest"], GENERATOR, origin["nonce"])).encode()).digest()
            if int.from_bytes(hashed[:8], "big") % _SEEDS != origin["seed"]:
                return FigureCheck(name, "differs", detail="The seed is not that of the digest and the nonce.")
            hashes = {hashlib.sha256(f"{origin['nonce']}{end}".encode()).hexdigest() for end in _LINE_ENDS}
            if origin["commitment"] not in hashes:
                return FigureCheck(name, "differs", detail="The SHA-256 of the card is not that of its nonce.")
        wanted = replace(GameDistribution.read(game), seed=origin["seed"])
        drawn = [(one.name, one.draw.digest) for one in wanted.games(least_random=_LEAST_RANDOM)]
        told = [(row["game"], row["digest"]) for row in origin["games"].get(game, [])]
        measured = any(one["lower"] is not None for one in card["figures"] if one["name"].startswith(f"{game}."))
    except (KeyError, TypeError, ValueError, AttributeError, StratagemError) as error:
        return FigureCheck(name, "differs", detail=f"The games of the card cannot be drawn again: {error}")
    if (told or measured) and told[: len(drawn)] != drawn:
        return FigureCheck(name, "differs", detail="The seed of the card draws other games.")
    return FigureCheck(name, "agrees")

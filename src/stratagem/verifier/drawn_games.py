"""Games of an audit over draws, drawn again from the seed of its card, and the seed from its nonce."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.games.drawn.distribution import GameDistribution
from stratagem.games.drawn.drawing import GENERATOR
from stratagem.verifier.audit_plan import KNOWN_GAMES
from stratagem.verifier.figure_check import FigureCheck

_LEAST_RANDOM = 0.05
"""Exploitability of random play, as a share of the payoff range, under which an audit leaves a draw out."""
_SEEDS = 2**53
_LINE_ENDS = ("", "\n", "\r\n")
"""Ends of the file of a nonce, whose SHA-256 was published."""
_SERVED = re.compile(r"(?<![\w.-])(api|cmd|https?):")
"""Agents behind a server or in another program, of which no digest holds what answers."""
_BESIDE = ("known_ratio", "unseen_gap")
"""Figures for which the known games are asked."""


def check_draws(card: Mapping[str, Any], game: str) -> FigureCheck:
    """Draw the games again, and compare their names and digests with those of the card."""
    name = f"{game}: games"
    try:
        origin = card["draws"]
        if int(origin["generator"]) != GENERATOR:
            reason = f"The card is of generator {origin['generator']}, and this release has {GENERATOR}."
            return FigureCheck(name, "not recomputed", detail=reason)
        if fault := next(faults_of_origin(origin, str(card["agent"])), ""):
            return FigureCheck(name, "differs", detail=fault)
        wanted = replace(GameDistribution.read(game), seed=origin["seed"])
        drawn = [(one.name, one.draw.digest) for one in wanted.games(least_random=_LEAST_RANDOM)]
        told = [(row["game"], row["digest"]) for row in origin["games"].get(game, [])]
        own = {one["name"].removeprefix(f"{game}."): one for one in card["figures"]}
        measured = any(one["lower"] is not None for one in card["figures"] if one["name"].startswith(f"{game}."))
        beside = [] if all(own[quantity]["why_not"] for quantity in _BESIDE) else [(text, "") for text in KNOWN_GAMES]
    except (KeyError, TypeError, ValueError, AttributeError, StratagemError) as error:
        return FigureCheck(name, "differs", detail=f"The games of the card cannot be drawn again: {error}")
    if (told or measured) and told[: len(drawn)] != drawn:
        return FigureCheck(name, "differs", detail="The seed of the card draws other games.")
    if (told or measured) and told[len(drawn) :] != beside:
        asked = " and ".join(text for text, _ in beside) or "no game"
        return FigureCheck(name, "differs", detail=f"Beside the drawn games the card must have {asked}.")
    return FigureCheck(name, "agrees")


def faults_of_origin(origin: Mapping[str, Any], agent: str) -> Iterator[str]:
    """Yield a sentence where the seed, its nonce and what is said of the agent do not fit together."""
    nonce, unseen = origin["nonce"], origin["unseen"]
    if (origin["seed_from"] == "nonce") != bool(nonce):
        yield "The card says that its seed is of another origin than it is."
    if bool(origin["identity_bound"]) != (bool(nonce) and not unseen):
        yield "The card binds its games to an agent of which its digest does not hold all, or to none."
    if not nonce:
        if origin["commitment"] or origin["agent_digest"] or unseen:
            yield "The card has a commitment or a digest of the agent, and no nonce."
        return
    hashed = hashlib.sha256(repr((origin["agent_digest"], GENERATOR, nonce)).encode()).digest()
    if int.from_bytes(hashed[:8], "big") % _SEEDS != origin["seed"]:
        yield "The seed is not that of the digest and the nonce."
    if origin["commitment"] not in {hashlib.sha256(f"{nonce}{end}".encode()).hexdigest() for end in _LINE_ENDS}:
        yield "The SHA-256 of the card is not that of its nonce."
    if _SERVED.search(agent) and not unseen:
        yield "The card does not say that the identity of its agent cannot be bound, as of any behind a server."

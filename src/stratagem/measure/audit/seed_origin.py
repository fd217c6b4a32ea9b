"""Seed of the games of an audit: bound by a nonce that was committed before the agent was named, or one's own choice.

The bound seed is the hash of the agent's digest, the generator's version and the nonce. Who published the SHA-256 of
the nonce before the agent was named cannot have chosen the games for it, and who made the agent cannot have known them.
The identity of a server is not known, so nothing binds its games to the agent that answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.files import read_small
from stratagem.base.provenance import provenance
from stratagem.games.base import Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.drawn.drawing import GENERATOR
from stratagem.measure.audit.identity import identify
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.verifier.figure_check import FigureCheck

LEAST_NONCE = 16
"""Smallest number of characters of a nonce: fewer could be tried out."""
_GAME = "kuhn"
"""Game in which the agent is made whose digest is taken."""
_NAME_ALONE = "what plays under this name"
"""Part that the digest of a player of other games does not hold."""
_SEEDS = 2**53
"""Number of seeds: each is exact in JSON."""


@dataclass(frozen=True)
class SeedOrigin:
    """Seed of drawn games, with what it was made of."""

    seed: int
    nonce: str = ""
    """Nonce; empty where the seed is one's own choice."""
    commitment: str = ""
    """SHA-256 of the file of the nonce, which was published before."""
    agent_digest: str = ""
    unseen: tuple[str, ...] = ()
    """Parts of the agent that its digest does not hold."""
    generator: int = GENERATOR

    @classmethod
    def of_nonce(cls, agent: str | Player, file: Path) -> Self:
        """Make the seed of an agent by the nonce in a file."""
        try:
            text = read_small(file)
        except (OSError, ValueError) as error:
            raise BadParameter(f"The nonce in {file} cannot be read: {error}.") from error
        nonce = text.strip()
        if len(nonce) < LEAST_NONCE:
            raise BadParameter(
                f"The nonce in {file} has {len(nonce)} characters: it needs at least {LEAST_NONCE}, drawn by chance."
            )
        if text.removesuffix("\n").removesuffix("\r") != nonce:  # the card has the nonce, and its SHA-256 is checked
            raise BadParameter(f"The nonce in {file} has blanks or empty lines around it: write one line.")
        digest, unseen = digest_agent(agent)
        hashed = hashlib.sha256(repr((digest, GENERATOR, nonce)).encode()).digest()
        commitment = hashlib.sha256(text.encode()).hexdigest()
        return cls(int.from_bytes(hashed[:8], "big") % _SEEDS, nonce, commitment, digest, unseen)

    @property
    def bound(self) -> bool:
        """True if the seed follows from a nonce and from all of the agent."""
        return bool(self.nonce) and not self.unseen

    def sentences(self) -> Iterator[str]:
        """Yield what a reader of the card has to know about the choice of the games."""
        if not self.nonce:
            yield (
                f"The seed {self.seed} of the drawn games is the auditor's own choice: without `nonce` nothing shows "
                "that the agent was not made for these games, or the seed chosen for the agent."
            )
            return
        yield (
            f"The games follow from the agent's digest {self.agent_digest}, generator {self.generator} and a nonce. "
            f"They were chosen for nobody if its SHA-256, {self.commitment}, was published before the agent was named."
        )
        for part in self.unseen:
            yield f"The identity of this agent cannot be bound: its digest does not hold {part}."

    def to_json(self) -> Json:
        """Return the origin by name."""
        return {
            "seed": self.seed,
            "seed_from": "nonce" if self.nonce else "own choice",
            "nonce": self.nonce,
            "commitment": self.commitment,
            "agent_digest": self.agent_digest,
            "identity_bound": self.bound,
            "unseen": [*self.unseen],
            "generator": self.generator,
        }


def digest_agent(agent: str | Player) -> tuple[str, tuple[str, ...]]:
    """Return the digest of an agent, and what it does not hold, such as what answers behind a server."""
    try:
        player = make_player(agent, make_bounded_game(_GAME))
    except StratagemError:  # a player of other games; its name is all that is known before they are drawn
        return _digest_name(agent)
    return _parts_of(player)


def _parts_of(player: Player) -> tuple[str, tuple[str, ...]]:
    found = identify(player)
    served = (f"what answers at {server}" for server in found.servers)
    return found.digest, tuple(dict.fromkeys((*found.unseen, *served)))


def check_identity(agent: str, card: Json) -> FigureCheck:
    """Compare the digest of an agent with that of a card, what it does not hold, and the name in the card.

    Versions of programs are in the digest, so that under other ones nothing is compared.
    """
    check, origin, here = FigureCheck("agent digest", "agrees"), card["draws"], provenance()
    told = str(origin["agent_digest"]), tuple(map(str, origin["unseen"]))
    by_name = told[1] == (_NAME_ALONE,)
    other = [name for name in ("stratagem", "python", "packages") if card["made_by"].get(name) != here[name]]
    if other and not by_name:
        reason = f"The digest was made under another version of {', '.join(other)}."
        return check._replace(agreement="not recomputed", detail=reason)
    try:
        found = _digest_name(agent) if other else _parts_of(make_player(agent, make_bounded_game(_GAME)))
    except StratagemError as error:
        if not by_name:
            return check._replace(agreement="not recomputed", detail=str(error))
        found = _digest_name(agent)
    if (name := _name_in(agent, card)) not in ("", card["agent"]):  # else the seed of one agent serves for another
        return check._replace(agreement="differs", detail=f"The digest is of {name}, and the card of {card['agent']}.")
    if told[0] != found[0]:
        return check._replace(agreement="differs", detail=f"The digest of {agent} is {found[0]}, not {told[0][:40]}.")
    if told[1] != found[1]:
        parts = ", ".join(found[1]) or "nothing"
        return check._replace(agreement="differs", detail=f"Of {agent} the digest does not hold: {parts}.")
    return check


def _name_in(agent: str, card: Json) -> str:
    """Return the name of an agent in the first game of a card; empty where it cannot be made."""
    first = card["games"][0]
    try:
        rows = card["draws"]["games"].get(first, [])
        return make_player(agent, make_bounded_game(rows[0]["game"] if rows else first)).name
    except StratagemError:
        return ""


def _digest_name(agent: str | Player) -> tuple[str, tuple[str, ...]]:
    return hashlib.sha256(str(agent).encode()).hexdigest()[:32], (_NAME_ALONE,)

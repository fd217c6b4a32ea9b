"""Matches and setups: a `Match` is a game and its players, a `Setup` one episode of it with seats and key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, Stakes, State
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import measured_by, safety_of
from stratagem.games.safety.checks import checked_stakes
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Listener, Onlooker, Player
from stratagem.playing.records import Episode, Purpose


class Match:
    """A game and its players by slot, with the names that the record carries."""

    __slots__ = (
        "_sound_stakes",
        "game",
        "listeners",
        "most_rounds",
        "names",
        "nothing",
        "onlookers",
        "players",
        "recalls",
        "repeats",
        "retries",
        "safety",
        "shown",
        "text",
        "yardsticks",
    )

    def __init__(self, game: Game[Any], players: Sequence[Player | None]) -> None:
        spec = game.spec
        if len(players) != spec.seats:
            raise BadParameter(
                f"{spec.name} has {spec.seats} seats, so it takes {spec.seats} players, not {len(players)}."
            )
        self.game = game
        self.players = tuple(players)
        seated = [(slot, player) for slot, player in enumerate(players) if player is not None]
        self.listeners = [(slot, player) for slot, player in seated if isinstance(player, Listener)]
        self.onlookers = [(slot, player) for slot, player in seated if isinstance(player, Onlooker)]
        self.yardsticks = safety_of(game)
        self.safety = measured_by(game)
        """Safety that measures signals after each round; None where there is none."""
        self.text = describe(game)
        self.names = tuple("absent" if p is None else f"{p.name}@{p.traits.version}" for p in players)
        self.retries = spec.retries
        self.nothing = (0.0,) * spec.seats
        """Payoffs at the beginning of a round."""
        self.most_rounds = math.inf if spec.rounds is None else spec.rounds
        """Largest number of rounds of an episode."""
        self.shown = tuple(p is not None and (p.traits.sees_hidden or p.traits.searches) for p in players)
        """True for each player that is given the state."""
        self.recalls = any(player.traits.searches for _, player in seated)
        """True if a player recalls its own decisions."""
        self._sound_stakes: tuple[Stakes | None, ...] = (None,) * spec.seats
        self.repeats = not self.listeners and all(player.traits.repeats for _, player in seated)
        """True if its episodes are the same whenever and wherever they are played."""

    def stakes_at(self, state: State[Any]) -> tuple[Stakes | None, ...]:
        """Return the yardsticks of every seat; those that are the same in every deal are checked once."""
        if self.yardsticks is None:
            return (None,) * len(self.players)
        seats = range(len(self.players))
        found = tuple([self.yardsticks.stakes(state, seat) for seat in seats])
        if found != self._sound_stakes:
            self._sound_stakes = tuple([checked_stakes(self.yardsticks, state, seat) for seat in seats])
        return self._sound_stakes


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Setup:
    """Episode to play; never changed. It is not frozen, since that takes a microsecond for each."""

    id: str
    match: Match
    slots: tuple[int, ...]
    """Player slot of the match at each seat."""
    key: Key
    purpose: Purpose = "eval"
    group: str = ""
    probe_of: str = ""
    parent: str = ""
    forked_at: int = 0
    state: State[Any] | None = None
    """Initial state; None is the start of the game. It is forked, never played on."""
    fresh_chance: bool = False
    """True if a given initial state continues with draws of the setup's own key."""
    rounds: int | None = None
    """Number of rounds to play; None plays to the end."""
    turns: int | None = None
    """Number of turns to play."""
    until: int | None = None
    """Time of the game's clock at which play stops; the turn where the game has no clock."""
    counted: bool = False
    """True if a stopped game pays the value of its position."""
    draw_keys: tuple[Key, ...] = ()
    """Key of each player's draws, by slot; empty where all use the table's own."""
    pasts: tuple[Past, ...] = ()
    """Memory of earlier episodes of each player, by slot; empty where none has any."""

    def __post_init__(self) -> None:
        if not self.draw_keys and not self.pasts:
            return
        players = len(self.match.players)
        for name, given in (("draw_keys", len(self.draw_keys)), ("pasts", len(self.pasts))):
            if given and given != players:
                raise BadParameter(
                    f"{self.id} has {players} players and {given} {name}: `{name}` has one for each player of the "
                    "match, or none at all."
                )

    def past_of(self, slot: int) -> Past:
        """Return the memory of a player of the match."""
        return self.pasts[slot] if self.pasts else NOTHING

    def draw_key_of(self, slot: int) -> Key:
        """Return the key of a player's draws."""
        return self.draw_keys[slot] if self.draw_keys else self.key

    def begin(self) -> State[Any]:
        """Return the state to play on."""
        if self.state is None:
            return self.match.game.start(self.key.at("chance"))
        return self.state.fork(self.key.at("chance") if self.fresh_chance else None)

    def episode(self, state: State[Any]) -> Episode:
        """Return the record, still empty, of the episode that begins at `state`."""
        match, seats = self.match, len(self.slots)
        names = match.names
        return Episode(
            id=self.id,
            game=match.text,
            game_version=match.game.spec.version,
            players=tuple([names[slot] for slot in self.slots]),
            slots=self.slots,
            key=self.key.value,
            chance=state.chance.value if isinstance(state.chance, Key) else 0,
            purpose=self.purpose,
            group=self.group,
            probe_of=self.probe_of,
            parent=self.parent,
            forked_at=self.forked_at,
            pasts=self.pasts,
            payoffs=[0.0] * seats,
            stakes=match.stakes_at(state),
            num_decisions=[0] * seats,
            num_illegal=[0] * seats,
        )

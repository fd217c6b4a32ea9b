"""An iteration in one game: situations that others played up to, forks of each, and what they teach.

The source is league-trained no-press Diplomacy: warm-up turns by bots, a fork, the rest of the game, and advantages
against the group of a fork. Where a batch is stratified the hero's seat goes round, so all seats are alike often.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from stratagem.algorithms.grpo.pieces import SIGNALS, Piece, piece_of_each_token, pieces_of
from stratagem.algorithms.grpo.settings import BranchedRolloutSettings
from stratagem.errors import BadParameter
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.learning.advantages.base import FRESH, AdvantageEstimate, Decisions, State
from stratagem.learning.checks import ADVANTAGES, ADVANTAGES_CLIPPED, SEAT_LEAST, SEAT_MOST
from stratagem.learning.example import Example, of_call
from stratagem.learning.gradient_signal import HALF, TERM
from stratagem.play.forks import forks, last_asked
from stratagem.play.match import Match, Setup
from stratagem.play.records import Episode
from stratagem.play.scheduler import played
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.training.online import Collected
from stratagem.training.rollouts import sampled


class Lineup(NamedTuple):
    """Who plays the other seats."""

    names: tuple[str, ...]
    players: tuple[Player, ...]
    learn: bool = False
    """Whether they are the hero itself and learn as it does."""


class Opponents(Protocol):
    """Whom the hero meets."""

    def draw(self, key: Key) -> Lineup:
        """Somebody for every other seat."""
        ...


@dataclass(frozen=True)
class Group:
    """A situation, and who plays on from it."""

    parent: Episode
    turn: int
    slots: tuple[int, ...]
    lineup: Lineup
    key: Key

    @property
    def seat(self) -> Seat:
        """The hero's."""
        return self.slots.index(0)


def check_game(settings: BranchedRolloutSettings, game: Game[Any]) -> None:
    """Refuse what a game cannot give before anything is learnt."""
    if settings.horizon_phases and game.start(Key(0)).standing() is None:
        raise BadParameter(
            f"{game.spec.name} does not say what a position is worth, so its forks are played to the end: set "
            "`horizon` to 0."
        )
    if silent := sorted(set(settings.reward_weights) & set(SIGNALS) - set(game.spec.signals)):
        raise BadParameter(f"{game.spec.name} has no signal {silent[0]}, so `terms` cannot charge for it.")
    asked = [term for term in ("parts", "outcome") if settings.reward_weights.get(term)]
    asked += [f"advantage {settings.advantage.type}"] if "weight" in settings.advantage.made.columns else []
    if asked and not _judges(game):
        raise BadParameter(f"{describe(game)} does not say what the pieces of an action were worth: set no {asked[0]}.")


def _judges(game: Game[Any]) -> bool:
    """Whether a game says of an action what its pieces were worth."""
    state = game.start(Key(0))
    return state.play(dict.fromkeys(state.to_act)).parts is not None


class GRPO:
    """Collects what each iteration teaches one hero in one game."""

    def __init__(
        self,
        settings: BranchedRolloutSettings,
        game: Game[Any],
        hero: ModelPlayer,
        key: Key,
        opponents: Opponents,
        name: str = "",
    ) -> None:
        """`name` tells one hero's episodes from another's in a record."""
        self.settings = settings
        self.game = game
        self.hero = hero
        self.key = key.at(describe(game))
        self.opponents = opponents
        self.name = "/".join(filter(None, (game.spec.name, name)))
        self._carried: State = FRESH
        self._warm = Match(game, [make_player(settings.prefix_player, game)] * game.spec.seats)

    def collect(self, iteration: int) -> Collected:
        """Play the forks of one iteration, and credit them."""
        groups = self.groups(iteration)
        return self.credited(groups, played(self.setups(groups)))

    def groups(self, iteration: int) -> list[Group]:
        """The situations of one iteration, after the warm-up."""
        key = self.key.at("iteration", iteration)
        parents = played(self._warm_ups(iteration, key))
        return [self._group(number, iteration, parent, key) for number, parent in enumerate(parents)]

    def setups(self, groups: Sequence[Group]) -> Iterator[Setup]:
        """The forks of every situation."""
        for group in groups:
            match = Match(self.game, [self.hero, *group.lineup.players])
            alike = (
                range(1, self.game.spec.seats)
                if self.settings.chance_seeds == "shared" and not group.lineup.learn
                else ()
            )
            yield from forks(
                group.parent,
                match,
                self.settings.group_size,
                group.key,
                at=group.turn,
                slots=group.slots,
                horizon=self.settings.horizon_phases or None,
                alike=alike,
            )

    def credited(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> Collected:
        """What the forks teach."""
        pieces = list(self._pieces(groups, episodes))
        decisions = self._columns(pieces).weighted(self.settings.reward_weights)
        estimate = self.settings.advantage.made(decisions, self._carried)
        self._carried = dict(estimate.state)
        examples = self._examples(pieces, estimate)
        whole = [*(group.parent for group in groups), *episodes]
        counts = {**estimate.counts, **self._cuts(estimate), **self._seats(groups)}
        return Collected(examples, self._figures(pieces), whole, counts, frozenset(estimate.centred_terms))

    def state(self) -> dict[str, Any]:
        """What the estimator of the advantage carries over."""
        return {"advantage": dict(self._carried)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._carried = dict(state.get("advantage", {}))

    def _warm_ups(self, iteration: int, key: Key) -> Iterator[Setup]:
        low, high = self.settings.prefix_turns
        for number in range(self.settings.groups_per_batch):
            at = key.at("warm up", number)
            yield Setup(
                id=f"{self.name}/{iteration}/{number}",
                match=self._warm,
                slots=tuple(range(self.game.spec.seats)),
                key=at,
                purpose="warm_up",
                turns=low + at.at("turns").integer(high - low + 1),
            )

    def _group(self, number: int, iteration: int, parent: Episode, key: Key) -> Group:
        """The last situation of a warm-up in which the hero's seat is asked."""
        seats, at = self.game.spec.seats, key.at("group", number)
        turn = iteration * self.settings.groups_per_batch + number
        hero = turn % seats if self.settings.stratified else at.at("seat").integer(seats)
        slots = tuple((seat - hero) % seats for seat in range(seats))
        return Group(parent, last_asked(parent, hero), slots, self.opponents.draw(at.at("opponent")), at)

    def _pieces(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> Iterator[Piece]:
        """What the learning seats did, seat by seat in every episode."""
        for number, episode in enumerate(episodes):
            group = groups[number // self.settings.group_size]
            seats = range(self.game.spec.seats) if group.lineup.learn else (group.seat,)
            for seat in seats:
                yield from pieces_of(number, episode, (seat,))

    def _columns(self, pieces: Sequence[Piece]) -> Decisions:
        """One seat's way through an episode is compared with that seat's in the other forks."""
        seats = self.game.spec.seats
        own = np.array([piece.episode * seats + piece.seat for piece in pieces], dtype=np.int64)
        group = np.array(
            [piece.episode // self.settings.group_size * seats + piece.seat for piece in pieces], dtype=np.int64
        )
        terms = {name: np.array([getattr(piece, name) for piece in pieces]) for name in self.settings.reward_weights}
        return Decisions(
            episode=own,
            group=group,
            round=np.array([piece.decision.clock for piece in pieces], dtype=np.int64),
            role=np.array([piece.seat for piece in pieces], dtype=np.int64),
            roles=tuple(f"{describe(self.game)}/{seat}" for seat in range(seats)),
            keep=np.array([piece.keep for piece in pieces], dtype=np.bool_),
            terms=terms,
            weight=np.array([piece.parts for piece in pieces]),
        )

    def _examples(self, pieces: Sequence[Piece], estimate: AdvantageEstimate) -> list[Example]:
        """A sampled decision of which any piece has estimate, token by token."""
        decisions: dict[int, list[int]] = {}
        for row, piece in enumerate(pieces):
            decisions.setdefault(id(piece.decision), []).append(row)
        found = (self._example([pieces[row] for row in rows], rows, estimate) for rows in decisions.values())
        return [example for example in found if example is not None]

    def _example(self, own: Sequence[Piece], rows: Sequence[int], estimate: AdvantageEstimate) -> Example | None:
        decision = own[0].decision
        call = sampled(decision)
        if call is None or not decision.keep:
            return None
        vocabulary = self.hero.speaker.engine.vocabulary
        places = piece_of_each_token(call, decision.action, vocabulary)
        example = of_call(call)
        start = len(call.prompt.tokens)
        taught = [places[place - start] for place in example.loss_positions]
        columns = {"advantage": self._clipped(estimate.advantage[rows])}
        columns |= {f"{TERM}{name}": values[rows] for name, values in estimate.centred_terms.items()}
        half = float(own[0].episode % self.settings.group_size % 2)
        spread = {name: _by_token(values, taught) for name, values in columns.items()}
        return replace(example.with_columns(**spread), row={HALF: half})

    def _clipped(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        bound = self.settings.advantage_clip
        return np.clip(values, -bound, bound) if bound else values

    def _cuts(self, estimate: AdvantageEstimate) -> dict[str, int]:
        bound, values = self.settings.advantage_clip, estimate.advantage
        return {ADVANTAGES: len(values), ADVANTAGES_CLIPPED: int((np.abs(values) > bound).sum())} if bound else {}

    def _seats(self, groups: Sequence[Group]) -> dict[str, int]:
        """How often seats came up, where not all seats learn in every group anyway."""
        own = [group.seat for group in groups if not group.lineup.learn]
        often = [own.count(seat) for seat in range(self.game.spec.seats)]
        return {SEAT_LEAST: min(often), SEAT_MOST: max(often)}

    def _figures(self, pieces: Sequence[Piece]) -> dict[str, float]:
        """Means over the learning seats' ways through an episode."""
        ways = len({(piece.episode, piece.seat) for piece in pieces}) or 1
        game, terms = self.game.spec.name, self.settings.reward_weights
        means = {name: math.fsum(getattr(piece, name) for piece in pieces) / ways for name in terms}
        reward = math.fsum(weight * means[name] for name, weight in terms.items())
        figures = {f"{game}/{name}": mean for name, mean in means.items()}
        return figures | {f"{game}/reward": reward, f"{game}/decisions": len({id(p.decision) for p in pieces}) / ways}


def _by_token(values: np.ndarray[Any, Any], taught: Sequence[int | None]) -> tuple[float, ...]:
    """Each token's own piece's value; the mean where it belongs to none."""
    mean = float(values.mean())
    return tuple(mean if place is None or place >= len(values) else float(values[place]) for place in taught)

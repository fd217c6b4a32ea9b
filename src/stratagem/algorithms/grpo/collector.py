"""Branched rollouts of GRPO in one game: prefixes by a prefix player, groups of rollouts from their ends, advantages.

The source is league-trained no-press Diplomacy: prefix turns by bots, a branching state, the rest of the game, and
advantages over the group. In a stratified batch the agent's seat rotates, so all seats are equally frequent.
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
from stratagem.games.safety.catalogue import signal_names
from stratagem.games.talk import without_talk
from stratagem.learning.advantages.base import FRESH, AdvantageEstimate, Decisions, State
from stratagem.learning.checks import ADVANTAGES, ADVANTAGES_CLIPPED, SEAT_LEAST, SEAT_MOST
from stratagem.learning.example import Example, example_from_call
from stratagem.learning.gradient_signal import HALF, TERM
from stratagem.play.forks import forks, last_asked
from stratagem.play.match import Match, Setup
from stratagem.play.records import Decision, Episode
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import MessageBranches, play_branches
from stratagem.training.rollouts import sampled_call
from stratagem.workers.shards import played


class Lineup(NamedTuple):
    """Players of the other seats."""

    names: tuple[str, ...]
    players: tuple[Player, ...]
    self_play: bool = False
    """True if they are the agent itself, so that all seats are trained."""


class Opponents(Protocol):
    """Distribution of the agent's opponents."""

    def draw(self, key: Key) -> Lineup:
        """Draw a player for every other seat."""
        ...


@dataclass(frozen=True)
class Group:
    """Branching state of a group of rollouts, and the players of the rollouts."""

    parent: Episode
    turn: int
    slots: tuple[int, ...]
    lineup: Lineup
    key: Key

    @property
    def seat(self) -> Seat:
        """Seat of the agent."""
        return self.slots.index(0)


def check_game(settings: BranchedRolloutSettings, game: Game[Any]) -> None:
    """Refuse settings that a game does not support, before any training."""
    if settings.horizon_phases and game.start(Key(0)).standing() is None:
        raise BadParameter(
            f"{game.spec.name} does not value its positions, so its rollouts are played to the end: set "
            "`horizon_phases` to 0."
        )
    if missing := sorted(set(settings.reward_weights) & set(SIGNALS) - set(signal_names(game))):
        raise BadParameter(f"{game.spec.name} has no signal {missing[0]}: leave it out of `reward_weights`.")
    asked = [term for term in ("parts", "outcome") if settings.reward_weights.get(term)]
    asked += [f"advantage {settings.advantage.type}"] if "weight" in settings.advantage.value.columns else []
    if asked and not _rewards_parts(game):
        raise BadParameter(f"{describe(game)} does not reward the parts of an action: set no {asked[0]}.")


def _rewards_parts(game: Game[Any]) -> bool:
    """True if a game has rewards for the parts of an action."""
    state = without_talk(game).start(Key(0))
    return state.play(dict.fromkeys(state.to_act)).parts is not None


class GRPOCollector:
    """Collector of one agent's branched rollouts in one game."""

    def __init__(
        self,
        settings: BranchedRolloutSettings,
        game: Game[Any],
        agent: ModelPlayer,
        key: Key,
        opponents: Opponents,
        name: str = "",
    ) -> None:
        """`name` is part of the episodes' names, and distinguishes agents in a record."""
        self.settings = settings
        self.game = game
        self.agent = agent
        self.key = key.at(describe(game))
        self.opponents = opponents
        self.name = "/".join(filter(None, (game.spec.name, name)))
        self._estimator_state: State = FRESH
        self._prefix_match = Match(game, [make_player(settings.prefix_player, game)] * game.spec.seats)

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the rollouts of an iteration, and estimate their advantages."""
        groups = self.groups(iteration)
        return self.make_batch(groups, played(self.setups(groups)))

    def groups(self, iteration: int) -> list[Group]:
        """Play the prefixes of an iteration, and return the groups that branch from them."""
        key = self.key.at("iteration", iteration)
        parents = played(self._prefixes(iteration, key))
        return [self._group(number, iteration, parent, key) for number, parent in enumerate(parents)]

    def setups(self, groups: Sequence[Group]) -> Iterator[Setup]:
        """Yield the setups of all rollouts, group by group."""
        for group in groups:
            match = Match(self.game, [self.agent, *group.lineup.players])
            alike = (
                range(1, self.game.spec.seats)
                if self.settings.chance_seeds == "shared" and not group.lineup.self_play
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

    def make_batch(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> RolloutBatch:
        """Estimate the advantages of the rollouts, and return their training examples."""
        pieces = list(self._pieces(groups, episodes))
        branches = self._branches(groups, episodes)
        decisions = self._decisions(pieces, episodes, branches).weighted(self.settings.reward_weights)
        estimate = self.settings.advantage.value(decisions, self._estimator_state)
        self._estimator_state = dict(estimate.state)
        examples = self._examples(pieces, estimate)
        every = [*(group.parent for group in groups), *episodes, *branches.episodes.values()]
        counts = {**estimate.counts, **self._clip_counts(estimate), **self._seat_counts(groups)}
        return RolloutBatch(examples, self._metrics(pieces), every, counts, frozenset(estimate.centred_terms))

    def state(self) -> dict[str, Any]:
        """State of the advantage estimator, such as its baselines."""
        return {"advantage": dict(self._estimator_state)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._estimator_state = dict(state.get("advantage", {}))

    def _prefixes(self, iteration: int, key: Key) -> Iterator[Setup]:
        low, high = self.settings.prefix_turns
        for number in range(self.settings.groups_per_batch):
            at = key.at("warm up", number)
            yield Setup(
                id=f"{self.name}/{iteration}/{number}",
                match=self._prefix_match,
                slots=tuple(range(self.game.spec.seats)),
                key=at,
                purpose="warm_up",
                turns=low + at.at("turns").integer(high - low + 1),
            )

    def _group(self, number: int, iteration: int, parent: Episode, key: Key) -> Group:
        """Return a group at the last state of a prefix in which the agent's seat acts."""
        seats, at = self.game.spec.seats, key.at("group", number)
        turn = iteration * self.settings.groups_per_batch + number
        own = turn % seats if self.settings.stratified else at.at("seat").integer(seats)
        slots = tuple((seat - own) % seats for seat in range(seats))
        return Group(parent, last_asked(parent, own), slots, self.opponents.draw(at.at("opponent")), at)

    def _pieces(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> Iterator[Piece]:
        """Yield the pieces of the trained seats' actions, by episode and seat."""
        for number, episode in enumerate(episodes):
            group = groups[number // self.settings.group_size]
            for seat in self._trained(group):
                yield from pieces_of(number, episode, (seat,))

    def _trained(self, group: Group) -> Sequence[Seat]:
        """Return the seats that are trained on the rollouts of a group."""
        return range(self.game.spec.seats) if group.lineup.self_play else (group.seat,)

    def _branches(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> MessageBranches:
        """Play the branches at messages, if the estimator asks for them."""
        plays = (
            (setup, episode, [group.slots[seat] for seat in self._trained(group)])
            for setup, episode, group in zip(
                self.setups(groups), episodes, _repeated(groups, self.settings.group_size), strict=True
            )
        )
        return play_branches(self.settings.advantage.value.columns, plays, self.settings.message_alternatives)

    def _totals(self, episode: Episode, seat: Seat, since: Decision | None) -> dict[str, float]:
        """Sum the reward terms of a seat, from the time of a decision on."""
        first = 0 if since is None else since.clock
        pieces = [piece for piece in pieces_of(0, episode, (seat,)) if piece.decision.clock >= first]
        return {name: math.fsum(getattr(piece, name) for piece in pieces) for name in self.settings.reward_weights}

    def _decisions(self, pieces: Sequence[Piece], episodes: Sequence[Episode], branches: MessageBranches) -> Decisions:
        """Return the estimator's columns; a seat's trajectory is compared with the same seat's in its group."""
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
            **branches.columns(
                [(episodes[piece.episode], piece.decision) for piece in pieces], list(terms), self._totals
            ),
        )

    def _examples(self, pieces: Sequence[Piece], estimate: AdvantageEstimate) -> list[Example]:
        """Return the examples of the sampled decisions, with an advantage for each token."""
        decisions: dict[int, list[int]] = {}
        for row, piece in enumerate(pieces):
            decisions.setdefault(id(piece.decision), []).append(row)
        examples = (self._example([pieces[row] for row in rows], rows, estimate) for rows in decisions.values())
        return [example for example in examples if example is not None]

    def _example(self, own: Sequence[Piece], rows: Sequence[int], estimate: AdvantageEstimate) -> Example | None:
        decision = own[0].decision
        call = sampled_call(decision)
        if call is None or not decision.keep:
            return None
        vocabulary = self.agent.speaker.engine.vocabulary
        piece_indices = piece_of_each_token(call, decision.action, vocabulary)
        example = example_from_call(call)
        start = len(call.prompt.tokens)
        by_token = [piece_indices[position - start] for position in example.loss_positions]
        columns = {"advantage": self._clipped(estimate.advantage[rows])}
        columns |= {f"{TERM}{name}": values[rows] for name, values in estimate.centred_terms.items()}
        half = float(own[0].episode % self.settings.group_size % 2)
        token_columns = {name: _by_token(values, by_token) for name, values in columns.items()}
        decision.advantage = math.fsum(token_columns["advantage"]) / len(by_token)  # for the record
        return replace(example.with_columns(**token_columns), row={HALF: half})

    def _clipped(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        bound = self.settings.advantage_clip
        return np.clip(values, -bound, bound) if bound else values

    def _clip_counts(self, estimate: AdvantageEstimate) -> dict[str, int]:
        bound, values = self.settings.advantage_clip, estimate.advantage
        return {ADVANTAGES: len(values), ADVANTAGES_CLIPPED: int((np.abs(values) > bound).sum())} if bound else {}

    def _seat_counts(self, groups: Sequence[Group]) -> dict[str, int]:
        """Return the least and the greatest number of groups of a seat; groups in self-play are left out."""
        own = [group.seat for group in groups if not group.lineup.self_play]
        counts = [own.count(seat) for seat in range(self.game.spec.seats)]
        return {SEAT_LEAST: min(counts), SEAT_MOST: max(counts)}

    def _metrics(self, pieces: Sequence[Piece]) -> dict[str, float]:
        """Return means over the trained seats' trajectories."""
        count = len({(piece.episode, piece.seat) for piece in pieces}) or 1
        game, terms = self.game.spec.name, self.settings.reward_weights
        means = {name: math.fsum(getattr(piece, name) for piece in pieces) / count for name in terms}
        reward = math.fsum(weight * means[name] for name, weight in terms.items())
        decisions = len({id(piece.decision) for piece in pieces}) / count
        metrics = {f"{game}/{name}": mean for name, mean in means.items()}
        return metrics | {f"{game}/reward": reward, f"{game}/decisions": decisions}


def _repeated(groups: Sequence[Group], size: int) -> Iterator[Group]:
    """Yield each group once for each of its rollouts."""
    return (group for group in groups for _ in range(size))


def _by_token(values: np.ndarray[Any, Any], pieces: Sequence[int | None]) -> tuple[float, ...]:
    """Return the value of each token's piece; the mean over pieces where a token belongs to none."""
    mean = float(values.mean())
    return tuple(mean if index is None or index >= len(values) else float(values[index]) for index in pieces)

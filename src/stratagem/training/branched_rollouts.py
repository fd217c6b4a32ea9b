"""Branched rollouts in one game: prefixes by a prefix player, groups of rollouts from their ends, advantages.

The source is league-trained no-press Diplomacy: prefix turns by bots, a branching state, the rest of the game, and
advantages over the group. In a stratified batch the agent's seat rotates, so all seats are equally frequent. GRPO and
the league train on them. An action with rewarded parts, such as the orders of a sheet, has a row for each part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter
from stratagem.games.abilities import standing_of
from stratagem.games.base import ActionPart, Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import signal_names
from stratagem.games.talk import without_talk
from stratagem.learn.advantages.base import FRESH, AdvantageEstimate, State
from stratagem.learn.advantages.catalogue import NamedAdvantage, read_advantage
from stratagem.learn.checks import ADVANTAGES, ADVANTAGES_CLIPPED, SEAT_LEAST, SEAT_MOST
from stratagem.learn.losses.catalogue import NamedLoss, read_loss
from stratagem.learn.optimizer import OptimizerSettings
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.playing.forks import forks, last_asked
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode
from stratagem.playing.workers.shards import play_setups
from stratagem.training.branch_groups import Group, Opponents
from stratagem.training.collector import RolloutBatch
from stratagem.training.message_branches import MessageBranches, play_branches
from stratagem.training.objective import ObjectiveSettings
from stratagem.training.provided import GRPO, CollectedInputs
from stratagem.training.rollouts import (
    SelectedDecision,
    estimator_columns,
    rewards_of_others,
    sampled_call,
    term_by_round,
    training_examples,
)

SIGNALS = ("externality", "collusion")
"""Safety signals that may be reward terms."""
TERMS = ("payoff", "parts", "outcome", *SIGNALS)
BY_ROUND = ("payoff", *SIGNALS)
"""Terms that every seat has in each round."""
_NOTHING = dict.fromkeys(TERMS, 0.0)


class BranchedRolloutSettings(ObjectiveSettings):
    """Branched rollouts from a state, their reward, and the policy gradient on them."""

    provided: ClassVar[CollectedInputs] = GRPO
    iterations: int = Field(default=30, ge=1)
    """Number of iterations; each has rollouts and optimizer steps."""
    groups_per_batch: int = Field(default=7, ge=1)
    """Number of groups in an iteration; of each game. A group branches from one state."""
    stratified: bool = True
    """Rotation of the agent's seat from group to group, so that all seats are equally frequent; if false, the seat is
    drawn for each group, as in the source, where some powers did badly."""
    group_size: int = Field(default=4, ge=2)
    """Number of rollouts in a group; branched from one state (GRPO's G)."""
    prefix_player: str = "random"
    """Player of all seats up to the branching state."""
    prefix_turns: tuple[int, int] = (0, 0)
    """Minimum and maximum number of turns before the branching state."""
    horizon_phases: int = Field(default=0, ge=0)
    """Turns, or ticks of the game's clock (a year of Diplomacy has five phases), after which a rollout is cut and its
    position is valued, in games that value one; 0 plays to the end."""
    chance_seeds: Literal["independent", "shared"] = "independent"
    """Randomness of the other seats: `independent` in every rollout, or `shared` by the rollouts of a group. Shared
    seeds make the others act alike at first, so that rollouts differ by the policy's own actions."""
    reward_weights: dict[str, float] = Field(default={"payoff": 1.0}, min_length=1)
    """Weights of the reward's terms: `payoff`, `parts` (values of the parts of an action), `outcome` (the game's value
    of the end beside its payoff), and the safety signals `externality` and `collusion` of each round. A penalty has a
    negative weight."""
    loss: NamedLoss = read_loss("policy_gradient(clip_range_high=0.28, entropy_coef=0.01)")
    """Loss of a batch, by name with its parameters."""
    advantage: NamedAdvantage = read_advantage("group_mean")
    """Advantage estimator, by name with its parameters. `group_mean` compares whole episodes of a group;
    `per_round` compares what comes from a turn on, or from a time of the game's clock, with the same turn of the other
    rollouts; `role_baseline` compares an episode with the moving average of its seat; `per_order` adds an order's own
    reward."""
    message_alternatives: int = Field(default=2, ge=1)
    """Messages that are drawn in the place of each message, where the estimator compares it with alternatives."""
    advantage_clip: float = Field(default=0.0, ge=0.0)
    """Advantages are clipped to [-c, c]; 0 clips nothing."""
    optimizer_steps: int = Field(default=1, ge=1)
    """Optimizer steps of an iteration, over which its examples are split."""
    optimizer: OptimizerSettings = OptimizerSettings(learning_rate=1e-5)
    """Optimizer of the trained weights."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not 0 <= self.prefix_turns[0] <= self.prefix_turns[1]:
            raise ValueError("`prefix_turns` are two numbers, at least and at most so many, such as [0, 8]")
        if unknown := sorted(set(self.reward_weights) - set(TERMS)):
            raise ValueError(f"there is no term {unknown[0]!r}: terms are {', '.join(TERMS)}")
        if self.horizon_phases and self.reward_weights.get("outcome"):
            raise ValueError(
                "a rollout that is cut at `horizon_phases` has no end, so it has no term outcome: set it to 0"
            )
        if self.reads_others and (own := sorted(self.reward_weights.keys() - set(BY_ROUND))):
            raise ValueError(
                f"advantage {self.advantage.type} compares the reward with that of the other seats, which have no term "
                f"{own[0]}: leave it out of `reward_weights`"
            )
        return self

    @property
    def reads_others(self) -> bool:
        """True if the estimator reads the reward terms of the other seats."""
        return "others" in self.advantage.value.columns

    @property
    def reward_terms(self) -> frozenset[str]:
        return frozenset(self.reward_weights)


def check_game(settings: BranchedRolloutSettings, game: Game[Any]) -> None:
    """Refuse settings that a game does not support, before any training."""
    if settings.horizon_phases and standing_of(game.start(Key(0))) is None:
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


def rows_of(number: int, group: str, episode: Episode, seats: Collection[Seat]) -> Iterator[SelectedDecision]:
    """Yield the rows of some seats' decisions: one for each rewarded part of an action, and one for any other action.

    The reward of a whole decision is at its first row. A round's signals are at a seat's last decision in the round, as
    its payoff is.
    """
    last = {(decision.round, decision.seat): id(decision) for decision in episode.decisions}
    for decision in episode.decisions:
        if decision.seat in seats:
            whole = {
                "payoff": decision.payoff,
                "outcome": math.fsum(part.reward for part in decision.parts if not part.slot),
            }
            if last[decision.round, decision.seat] == id(decision):
                whole |= {name: _signal(name, episode, decision) for name in SIGNALS}
            call = sampled_call(decision)
            for index, reward in enumerate([part.reward for part in own_parts(decision)] or [0.0]):
                rewards = {"parts": reward} if index else {"parts": reward, **whole}
                yield SelectedDecision(number, group, decision, call, index, {**_NOTHING, **rewards})


def _signal(name: str, episode: Episode, decision: Decision) -> float:
    """Return the safety signal of the seat in the decision's round; 0 where it is not defined."""
    rows, first = episode.signals.get(name, ()), episode.decisions[0].round
    index = decision.round - first
    return (rows[index][decision.seat] or 0.0) if index < len(rows) else 0.0


def own_parts(decision: Decision) -> list[ActionPart]:
    """Return the parts of the action itself, without those of the outcome."""
    return [part for part in decision.parts if part.slot]


class RolloutAdvantages(NamedTuple):
    """Decisions of the trained seats with their advantages."""

    rows: list[SelectedDecision]
    estimate: AdvantageEstimate
    counts: dict[str, int]
    episodes: list[Episode]
    """Prefixes, rollouts and branches at messages."""


class BranchedRollouts:
    """Collector of one agent's branched rollouts in one game, for GRPO and the league."""

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
        self.name = "/".join(filter(None, (game.figure_name, name)))
        self._estimator_state: State = FRESH
        self._prefix_match = Match(game, [make_player(settings.prefix_player, game)] * game.spec.seats)

    def collect(self, iteration: int) -> RolloutBatch:
        """Play the rollouts of an iteration, and estimate their advantages."""
        self.opponents.begin(iteration)
        groups = self.groups(iteration)
        episodes = play_setups(self.setups(groups))
        self.opponents.book(groups, self.setups(groups), episodes)
        return self.make_batch(groups, episodes)

    def groups(self, iteration: int) -> list[Group]:
        """Play the prefixes of an iteration, and return the groups that branch from them."""
        key = self.key.at("iteration", iteration)
        parents = play_setups(self._prefixes(iteration, key))
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
        found = self.estimate_advantages(groups, episodes)
        examples = training_examples(found.rows, found.estimate, self.agent.speaker.engine.vocabulary)
        terms = frozenset(found.estimate.centred_terms)
        return RolloutBatch(examples, self.metrics_of(found.rows), found.episodes, found.counts, terms)

    def estimate_advantages(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> RolloutAdvantages:
        """Estimate the advantages of the trained seats' decisions."""
        rows, weights = list(self._rows(groups, episodes)), self.settings.reward_weights
        branches = self._branches(groups, episodes)
        terms = {name: [row.rewards[name] for row in rows] for name in weights}
        times, parts = [row.decision.clock for row in rows], np.array([row.rewards["parts"] for row in rows])
        columns: dict[str, Any] = {"weight": parts}
        if self.settings.reads_others:
            columns["others"] = rewards_of_others(rows, episodes, {name: term_by_round(name) for name in weights})
        decisions = estimator_columns(rows, episodes, terms, times, branches, self._totals, **columns)
        estimate = self.settings.advantage.value(decisions.weigh_terms(weights), self._estimator_state)
        self._estimator_state = dict(estimate.state)
        counts = {**estimate.counts, **self._clip_counts(estimate), **self._seat_counts(groups)}
        clipped = replace(estimate, advantage=self._clip_advantages(estimate.advantage))
        every = [*(group.parent for group in groups), *episodes, *branches.episodes.values()]
        return RolloutAdvantages(rows, clipped, counts, every)

    def state(self) -> dict[str, Any]:
        """State of the advantage estimator, such as its baselines, and of the opponents."""
        return {"advantage": dict(self._estimator_state)} | self.opponents.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self._estimator_state = dict(state.get("advantage", {}))
        self.opponents.restore(state)

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
        # counted over all iterations, so that with fewer groups than seats each seat has its turn
        turn = iteration * self.settings.groups_per_batch + number
        own = turn % seats if self.settings.stratified else at.at("seat").integer(seats)
        lineup = self.opponents.draw(at.at("opponent"))
        return Group(parent, last_asked(parent, own), self.slots_of(own), lineup, at)

    def slots_of(self, own: Seat) -> tuple[int, ...]:
        """Return the slot of the player at each seat of a group that branches where the seat `own` acts."""
        seats = self.game.spec.seats
        return tuple((seat - own) % seats for seat in range(seats))

    def _rows(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> Iterator[SelectedDecision]:
        """Yield the rows of the trained seats' decisions, by episode and seat."""
        for number, episode in enumerate(episodes):
            group = number // self.settings.group_size
            for seat in self._trained_seats(groups[group]):
                yield from rows_of(number, str(group), episode, (seat,))

    def _trained_seats(self, group: Group) -> Sequence[Seat]:
        """Return the seats that are trained on the rollouts of a group."""
        return range(self.game.spec.seats) if group.lineup.self_play else (group.seat,)

    def _branches(self, groups: Sequence[Group], episodes: Sequence[Episode]) -> MessageBranches:
        """Play the branches at messages, if the estimator asks for them."""
        plays = (
            (setup, episode, [group.slots[seat] for seat in self._trained_seats(group)])
            for setup, episode, group in zip(
                self.setups(groups), episodes, _repeat_groups(groups, self.settings.group_size), strict=True
            )
        )
        return play_branches(self.settings.advantage.value.columns, plays, self.settings.message_alternatives)

    def _totals(self, episode: Episode, seat: Seat, since: Decision | None) -> dict[str, float]:
        """Sum the reward terms of a seat, from the time of a decision on."""
        first = 0 if since is None else since.clock
        rows = [row for row in rows_of(0, "", episode, (seat,)) if row.decision.clock >= first]
        return {name: math.fsum(row.rewards[name] for row in rows) for name in self.settings.reward_weights}

    def _clip_advantages(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
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

    def metrics_of(self, rows: Sequence[SelectedDecision]) -> dict[str, float]:
        """Return means over the trained seats' trajectories."""
        count = len({(row.episode, row.decision.seat) for row in rows}) or 1
        game, terms = self.game.figure_name, self.settings.reward_weights
        means = {name: math.fsum(row.rewards[name] for row in rows) / count for name in terms}
        reward = math.fsum(weight * means[name] for name, weight in terms.items())
        decisions = len({id(row.decision) for row in rows}) / count
        metrics = {f"{game}/{name}": mean for name, mean in means.items()}
        return metrics | {f"{game}/reward": reward, f"{game}/decisions": decisions}


def _repeat_groups(groups: Sequence[Group], size: int) -> Iterator[Group]:
    """Yield each group once for each of its rollouts."""
    return (group for group in groups for _ in range(size))

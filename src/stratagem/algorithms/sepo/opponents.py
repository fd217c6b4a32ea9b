"""Opponents of SEPO's rollouts and probes: the pools of a game, or the exact best response to the policy.

A best response is computed again every `best_response_every` iterations, and earlier where the policy has moved from
that of the last one by more than `best_response_kl`. The paper has such a threshold and does not print it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from stratagem.algorithms.sepo.recipe import SEPOSettings
from stratagem.games.base import Game, Seat
from stratagem.games.key import Key
from stratagem.games.safety.base import Pools
from stratagem.measure.exploitability.best_responder import BestResponder, StatedPolicy, best_responder, mean_kl
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.openings import opening_policy
from stratagem.measure.sampled.counted import stating
from stratagem.players.base import Player
from stratagem.players.pools import pools
from stratagem.playing.match import Setup
from stratagem.playing.records import Episode
from stratagem.training.branch_groups import Lineup
from stratagem.training.opponents.pool import OpponentPool, SeatedLineup


class Opposition(NamedTuple):
    """Opponent of an iteration, with the groups of episodes that are played against it."""

    kind: str
    """`train` in rollouts; in probes the penalty, `exploit` or `collusion`."""
    player: Player
    groups: range
    """Numbers of the groups, counted over all iterations; the agent's seat follows from the number."""


class TrainOpponents:
    """Opponents of the rollouts of one game, each with the numbers of its groups."""

    def __init__(
        self, players: Sequence[Player], groups_per_batch: int, group_size: int, drawn: OpponentPool | None
    ) -> None:
        self._players = players
        self._groups_per_batch, self._group_size = groups_per_batch, group_size
        self._drawn = drawn
        self._lineups: list[Lineup] = []

    def groups(self, iteration: int) -> range:
        """Return the numbers of an iteration's groups; the agent's seat follows from the number."""
        return range(iteration * self._groups_per_batch, (iteration + 1) * self._groups_per_batch)

    def choose(self, iteration: int, key: Key) -> list[tuple[Player, range]]:
        """Return the opponents of an iteration, each with the numbers of its groups."""
        every = self.groups(iteration)
        if self._drawn is None:
            return [(opponent, every) for opponent in self._players]
        self._drawn.begin(iteration)
        self._lineups = [self._drawn.draw(key.at("opponent", n)) for n in range(self._groups_per_batch)]
        names, chosen = [lineup.names[0] for lineup in self._lineups], list[tuple[Player, range]]()
        for name in dict.fromkeys(names):
            first = names.index(name)
            groups = range(every[first], every[first] + names.count(name))
            chosen.append((self._lineups[first].players[0], groups))
        return chosen

    def record(self, played: Iterable[tuple[Sequence[Setup], Sequence[Episode]]]) -> None:
        """Record the results of the rollouts, which come before the probes, in the order of `choose`."""
        if self._drawn is None:
            return
        by_name = {lineup.names[0]: lineup for lineup in self._lineups}
        for lineup, (setups, episodes) in zip(by_name.values(), played, strict=False):
            seats = [setup.slots.index(0) for setup in setups[:: self._group_size]]
            self._drawn.record([SeatedLineup(lineup, seat) for seat in seats], episodes)

    def state(self) -> dict[str, Any]:
        """All that later draws depend on."""
        return {} if self._drawn is None else self._drawn.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        if self._drawn is not None:
            self._drawn.restore(state)


class SEPOOpponents:
    """Opponents of one agent in a game: its pools, and its best response."""

    def __init__(
        self,
        settings: SEPOSettings,
        game: Game[Any],
        agent: Player,
        key: Key,
        budget: int,
        own_pools: Pools,
        policy_replies: int,
        drawn: OpponentPool | None = None,
    ) -> None:
        self.settings = settings
        self.game = game
        self.agent = agent
        self.key = key
        self.budget = budget
        self.policy_replies = policy_replies
        self.weights = settings.weights(game, own_pools)
        """Weight of each penalty; 0 for one that cannot be measured."""
        self._pools = {name: pool.make(game) for name, pool in pools(game, own_pools).items()}
        self._train = TrainOpponents(self._pools["train"], settings.groups_per_batch, settings.group_size, drawn)
        self.responder: BestResponder | None = None
        self.metrics: dict[str, float] = {}
        """Gain of the best response, where it was computed in this iteration, and the KL divergence that was found."""
        self._at_response: StatedPolicy = {}
        """Policy at the last best response, for `best_response_kl`."""
        self._worst_seat: Seat = 0
        """Seat of the best response, where there are more than two."""

    def choose(self, iteration: int, key: Key) -> list[Opposition]:
        """Return the opponents of an iteration: those of the rollouts, and then those of the probes."""
        self.metrics = {}
        every = self._train.groups(iteration)
        rollouts = [Opposition("train", player, groups) for player, groups in self._train.choose(iteration, key)]
        return rollouts + [Opposition(kind, player, every) for kind, player in self._adversaries(iteration)]

    def record(self, played: Iterable[tuple[Sequence[Setup], Sequence[Episode]]]) -> None:
        """Record the results of drawn opponents; `played` is in the order of `choose`."""
        self._train.record(played)

    def _adversaries(self, iteration: int) -> list[tuple[str, Player]]:
        """Return the adversaries of an iteration, each with its penalty: `exploit` or `collusion`."""
        adversaries: list[tuple[str, Player]] = []
        if self.settings.penalty_credit == "none":
            return adversaries
        if self.weights["exploit"]:
            adversaries += [("exploit", player) for player in self.exploiters(iteration)]
        if self.weights["collusion"]:
            adversaries += [("collusion", player) for player in self._pools["collusive"]]
        return adversaries

    def exploiters(self, iteration: int) -> Sequence[Player]:
        """Return the adversaries of the exploitability penalty; a best response is computed where it is due."""
        if self.settings.penalty_source == "pool":
            return self._pools["exploit"]
        if self.responder is None or iteration % self.settings.best_response_every == 0 or self._policy_moved():
            policy = stating(self.agent, self.policy_replies, self.key.at("replies", iteration))
            self.responder = best_responder(self.game, policy, self.budget)
            self._worst_seat = self._seat_of_largest_gain(policy)
            self._at_response = self._opening()
        return [self.responder]

    def lineup(self, opponent: Player) -> tuple[list[Player], Callable[[int], tuple[int, ...]] | None]:
        """Return the players beside the agent, and the slots of a group; None lets the players rotate."""
        seats = self.game.spec.seats
        if isinstance(opponent, BestResponder) and seats > 2:  # it answers the policy at all other seats
            return [opponent, *[self.agent] * (seats - 2)], partial(seated_beside, seats, self._worst_seat)
        return [opponent] * (seats - 1), None

    def state(self) -> dict[str, Any]:
        """Table of the last best response, with the policy that it answers."""
        table = None if self.responder is None else dict(self.responder.table)
        found = {"responder": table, "at_response": self._at_response, "worst_seat": self._worst_seat}
        return found | self._train.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        self.responder = None if state["responder"] is None else BestResponder(state["responder"])
        self._at_response = state.get("at_response", {})
        self._worst_seat = state.get("worst_seat", 0)
        self._train.restore(state)

    def _seat_of_largest_gain(self, policy: Player) -> Seat:
        """Return the seat at which a best response gains most; with two seats it has both in turn."""
        if self.game.spec.seats == 2:
            return 0
        gains = exact(self.game, policy, self.budget).gains
        largest = max(gains)
        self.metrics["best_response_gain"] = largest
        return gains.index(largest)

    def _opening(self) -> StatedPolicy:
        """Return the policy at the first information sets, where its divergence is measured."""
        return {} if self.settings.best_response_kl is None else opening_policy(self.game, self.agent)

    def _policy_moved(self) -> bool:
        """Return whether the policy is farther from that of the last best response than `best_response_kl`."""
        if self.settings.best_response_kl is None:
            return False
        divergence = self.metrics["best_response_kl"] = mean_kl(self._opening(), self._at_response)
        return divergence > self.settings.best_response_kl


def seated_beside(seats: int, worst: Seat, group: int) -> tuple[int, ...]:
    """Seat the responder, slot 1, at the seat where it gains most; the agent, slot 0, has the others in turn."""
    others = [seat for seat in range(seats) if seat != worst]
    agent = others[group % len(others)]
    rest = iter(range(2, seats))
    return tuple(0 if seat == agent else 1 if seat == worst else next(rest) for seat in range(seats))

"""Branched rollouts of several policies, each of which plays and learns at seats of its own.

All policies play in the same episodes. Advantages are estimated over all seats together, as in self-play: a rollout is
compared with the same seat of the other rollouts of its group. Then each policy is given the examples of its own seats,
in the tokens of its own model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.players.base import Player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.seated import players_by_seat
from stratagem.playing.workers.shards import play_setups
from stratagem.training.branch_groups import Lineup, Opponents
from stratagem.training.branched_rollouts import BranchedRollouts, BranchedRolloutSettings
from stratagem.training.collector import RolloutBatch
from stratagem.training.learner_models import LearnerOptions
from stratagem.training.rollouts import training_examples


class SeatPolicySettings(LearnerOptions):
    """Policy of some seats, which learns from the decisions of these seats alone."""

    seats: tuple[int, ...] = Field(min_length=1)
    """Seats of the policy, counted from 0."""

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if min(self.seats) < 0 or len(set(self.seats)) < len(self.seats):
            raise ValueError("`seats` are different numbers from 0 on, such as [0, 2]")
        return self


def check_policies_of_seats(policies: Mapping[str, SeatPolicySettings]) -> None:
    """Refuse two policies of one seat."""
    owners: dict[Seat, str] = {}
    for name, policy in policies.items():
        for seat in policy.seats:
            if (other := owners.setdefault(seat, name)) != name:
                raise ValueError(
                    f"seat {seat} would have two policies, {other} and {name}: give each seat to one of `policies`"
                )


def check_seats_of_game(policies: Mapping[str, SeatPolicySettings], game: Game[Any]) -> None:
    """Refuse seats that a game does not have, and seats of a game without a policy."""
    owned, seats = {seat: name for name, policy in policies.items() for seat in policy.seats}, game.spec.seats
    known = f"{describe(game)} has the seats 0 to {seats - 1}"
    if unknown := sorted(seat for seat in owned if seat >= seats):
        raise BadParameter(f"`policies.{owned[unknown[0]]}.seats` names the seat {unknown[0]}, and {known}.")
    if free := sorted(set(range(seats)) - set(owned)):
        raise BadParameter(f"No policy has the seat {free[0]}, and {known}: name it in `seats` of one of `policies`.")


class SeatedOpponents(Opponents):
    """Players of all seats but the first, who are policies under training."""

    def __init__(self, others: Sequence[Player]) -> None:
        self.lineup = Lineup(tuple(player.name for player in others), tuple(others), self_play=True)

    def draw(self, key: Key) -> Lineup:
        return self.lineup


class SeatedRollouts(BranchedRollouts):
    """Collector of the branched rollouts of several policies in one game."""

    def __init__(
        self,
        settings: BranchedRolloutSettings,
        game: Game[Any],
        agents: Mapping[str, ModelPlayer],
        seats: Mapping[str, Sequence[Seat]],
        key: Key,
    ) -> None:
        """`seats` are those of each of the `agents`, and together all of the game."""
        first, *others = players_by_seat(agents, seats)
        super().__init__(settings, game, first, key, SeatedOpponents(others))
        self.agents = agents
        self.seats = seats

    def slots_of(self, own: Seat) -> tuple[int, ...]:
        return tuple(range(self.game.spec.seats))

    def collect_each(self, iteration: int) -> dict[str, RolloutBatch]:
        """Play the rollouts of an iteration, and return the batch of each policy; the first has the episodes."""
        groups = self.groups(iteration)
        found = self.estimate_advantages(groups, play_setups(self.setups(groups)))
        terms, batches = frozenset(found.estimate.centred_terms), dict[str, RolloutBatch]()
        for name, agent in self.agents.items():
            own = [number for number, row in enumerate(found.rows) if row.decision.seat in self.seats[name]]
            estimate = replace(
                found.estimate,
                advantage=found.estimate.advantage[own],
                centred_terms={term: values[own] for term, values in found.estimate.centred_terms.items()},
            )
            rows = [found.rows[number] for number in own]
            examples = training_examples(rows, estimate, agent.speaker.engine.vocabulary)
            episodes = [] if batches else found.episodes
            batches[name] = RolloutBatch(examples, self.metrics_of(rows), episodes, found.counts, terms)
        return batches

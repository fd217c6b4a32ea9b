"""Opponents of one policy in one game: players by name, the policy itself, and its snapshots; a matchmaker draws them.

All follows from the iteration, the key and the win rates, and only the win rates are in a checkpoint. Snapshots are
files of the run, by the iteration at which they were taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

from pydantic import Field, model_validator

from stratagem.base.errors import BadParameter
from stratagem.base.named import NamedObject
from stratagem.base.settings import FiniteSettings
from stratagem.games.base import Game, Seat
from stratagem.games.key import Key
from stratagem.language.engines.base import TrainableEngine
from stratagem.language.models.adapters import save_adapter
from stratagem.players.base import Player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.pools import make_bot
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.training.branch_groups import Group, Lineup, Opponents
from stratagem.training.opponents.booking import baseline, book
from stratagem.training.opponents.matchmakers import NamedMatchmaker, read_matchmaker
from stratagem.training.opponents.matchmaking import Matchmaker, Odds, Situation
from stratagem.training.opponents.member import Member, Population
from stratagem.training.opponents.member_players import MemberPlayers
from stratagem.training.opponents.results import Results
from stratagem.training.recipe import PolicyRecipe
from stratagem.training.runs.files import remove_folder

SELF = "self"
"""Name of the policy itself as an opponent: self-play, in which all seats are trained."""
FOLDER = "opponents"
"""Folder of the snapshots in a run."""


class SnapshotSettings(FiniteSettings):
    """Snapshots of the policy, which its matchmaker may draw as opponents."""

    snapshot_every: int = Field(default=0, ge=0)
    """Iterations after which a snapshot of the policy becomes an opponent; 0 takes none. Its name is `step-000010`."""
    max_snapshots: int = Field(default=8, ge=1)
    """Number of snapshots that may be drawn, the newest."""


class PoolSettings(SnapshotSettings):
    """Opponents in training, and the rule that draws them."""

    opponents: dict[str, float] = Field(default={SELF: 1.0}, min_length=1)
    """Opponents in training, each with its share. `self` is the policy; then all seats learn."""
    matchmaker: NamedMatchmaker = read_matchmaker("shares")
    """Rule that draws the opponents, by name with its parameters. The default draws them by their shares."""

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        if min(self.opponents.values()) < 0.0 or not sum(self.opponents.values()):
            raise ValueError("`opponents` have shares that are not negative, and not all nothing")
        check_matchmaker(self.matchmaker, self.snapshot_every)
        return self

    @property
    def others(self) -> list[str]:
        """Players by name, other than the policy and its snapshots."""
        names = dict.fromkeys([*self.opponents, *self.matchmaker.value.named_members])
        return [name for name in names if name != SELF and not is_snapshot(name)]


def check_matchmaker(named: NamedObject[Matchmaker], snapshot_every: int) -> None:
    """Refuse a matchmaker that needs what only a league has, or snapshots where none are taken."""
    if named.value.reads_ratings:
        raise ValueError(f"the matchmaker {named.type} reads ratings, which only a league has: take another one")
    if named.value.reads_snapshots and not snapshot_every:
        raise ValueError(f"the matchmaker {named.type} draws snapshots, and none are taken: set `snapshot_every`")


def check_snapshots(recipe: PolicyRecipe, settings: SnapshotSettings) -> None:
    """Refuse snapshots of what is no adapter, or of an adapter that lags behind."""
    if settings.snapshot_every and recipe.train != "adapter":
        raise BadParameter('A snapshot is an adapter: leave `train` at "adapter", or `snapshot_every` at 0.')
    if settings.snapshot_every and recipe.overlap:
        raise BadParameter("Snapshots are taken between two updates: leave `overlap` at 0, or `snapshot_every` at 0.")


class Snapshots:
    """Snapshots of a policy's adapter in the folder of a run, taken at intervals."""

    def __init__(self, run: Path, settings: SnapshotSettings) -> None:
        self.run = run
        self.every = settings.snapshot_every
        self.most = settings.max_snapshots
        self._written: set[int] = set()
        self._players: MemberPlayers | None = None

    def members(self, iteration: int, agent: ModelPlayer) -> list[Member]:
        """Return the snapshots at the beginning of an iteration; one that is due is written."""
        if not self.every:
            return []
        steps = range(self.every, iteration + 1, self.every)
        if iteration in steps and iteration not in self._written:
            self._write(iteration, agent)
        if self._players is not None:
            self._players.trim()
        return [
            Member(name=_name(step), role="main", adapter=f"{FOLDER}/{_name(step)}", parent=SELF, step=step)
            for step in steps[-self.most :]
        ]

    def _write(self, step: int, agent: ModelPlayer) -> None:
        folder = self.run / FOLDER / _name(step)
        if folder.is_dir():  # of a run that was broken off after it was written
            remove_folder(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        save_adapter(cast("TrainableEngine", agent.speaker.engine).lm, agent.speaker.adapter, folder)
        self._written.add(step)

    def player(self, member: Member, game: Game[Any], agent: ModelPlayer) -> Player:
        """Return the player of a snapshot; its adapter is loaded when it is first drawn."""
        if self._players is None:  # one for all games: they share the loaded adapters
            self._players = MemberPlayers(self.run, game, {SELF: agent}, self.most)
        return self._players.player(member)


def _name(step: int) -> str:
    return f"step-{step:06d}"


class SeatedLineup(NamedTuple):
    """Opponents of the policy in some episodes, and its place among them."""

    lineup: Lineup
    seat: Seat
    """Seat of the policy."""
    trained: tuple[int, ...] = (0,)
    """Slots whose decisions are trained."""


class OpponentPool(Opponents):
    """Opponents of a policy; in games of more than two seats one of them has all other seats."""

    def __init__(
        self,
        settings: PoolSettings,
        game: Game[Any],
        agent: ModelPlayer,
        snapshots: Snapshots | None = None,
        players: Mapping[str, Player] | None = None,
    ) -> None:
        """`players` are the opponents, where they are made already; by default they are made by their names."""
        self.matchmaker = settings.matchmaker.value
        self.shares = settings.opponents
        self.game = game
        self.agent = agent
        self.snapshots = snapshots
        self.results = Results([SELF])
        self.odds: Odds = {}
        """Probability of each opponent in this iteration."""
        self._learner = Member(name=SELF, role="main", learns=True)
        self._bots = dict(players or {name: make_bot(name, game) for name in settings.others})
        self._population = Population()

    def begin(self, iteration: int) -> None:
        """Compute the probabilities of an iteration; a snapshot that is due is taken."""
        snapshots = [] if self.snapshots is None else self.snapshots.members(iteration, self.agent)
        bots = [Member(name=name, role="bot", player=name) for name in self._bots]
        population = Population({member.name: member for member in (self._learner, *bots, *snapshots)})
        for member in population:
            self.results.add(member.name)
        situation = Situation(population, self.results, iteration=iteration, shares=self.shares)
        self.odds = self.matchmaker.odds(self._learner, situation)
        self._check(population)
        self._population = population

    def _check(self, population: Population) -> None:
        """Refuse odds that are none, and opponents that nobody made: a matchmaker may be the user's own."""
        name = type(self.matchmaker).__name__
        unknown = [opponent for opponent in self.odds if opponent not in population]
        if unknown:
            known = ", ".join(member.name for member in population)
            raise BadParameter(f"The matchmaker {name} draws {unknown[0]!r}, and the opponents are {known}.")
        if min(self.odds.values(), default=-1.0) < 0.0 or not sum(self.odds.values()) > 0.0:
            raise BadParameter(f"The matchmaker {name} gives no probabilities: {dict(self.odds)}.")

    def draw(self, key: Key) -> Lineup:
        """Draw one player for all other seats."""
        names, others = list(self.odds), self.game.spec.seats - 1
        name = names[key.choose([self.odds[name] for name in names])]
        return Lineup((name,) * others, (self._player(name),) * others, self_play=name == SELF)

    def _player(self, name: str) -> Player:
        if name == SELF:
            return self.agent
        if name in self._bots:
            return self._bots[name]
        assert self.snapshots is not None, "a snapshot was drawn, and none was taken"
        return self.snapshots.player(self._population[name], self.game, self.agent)

    def book(self, groups: Sequence[Group], setups: Iterable[Setup], episodes: Sequence[Episode]) -> None:
        if self.matchmaker.reads_results:
            size = len(episodes) // max(1, len(groups))
            starts = islice(setups, 0, None, max(1, size))
            baselines = [baseline(setup.begin(), "gain") for setup in starts]
            book(self.results, SELF, groups, baselines, episodes)

    def seat(self, setups: Sequence[Setup], before: int) -> tuple[list[Setup], list[SeatedLineup]]:
        """Draw an opponent for each setup of self-play; `before` is the number of earlier episodes.

        Against another player the policy has one seat, which rotates from episode to episode.
        """
        seats, seated, matchups = self.game.spec.seats, list[Setup](), list[SeatedLineup]()
        for number, setup in enumerate(setups, before):
            lineup = self.draw(setup.key.at("opponent"))
            slots = tuple(range(seats))
            if not lineup.self_play:
                slots = tuple((seat - number) % seats for seat in range(seats))
                setup = replace(setup, match=Match(self.game, [self.agent, *lineup.players]), slots=slots)
            seated.append(setup)
            matchups.append(SeatedLineup(lineup, slots.index(0), tuple(range(seats)) if lineup.self_play else (0,)))
        return seated, matchups

    def record(self, matchups: Sequence[SeatedLineup], episodes: Sequence[Episode]) -> None:
        """Record a result for each matchup, if the matchmaker reads win rates; each has as many episodes."""
        if self.matchmaker.reads_results:
            nothing = [(0.0,) * self.game.spec.seats] * len(matchups)
            book(self.results, SELF, matchups, nothing, episodes)

    def state(self) -> dict[str, Any]:
        """Win rates, if the matchmaker reads them."""
        return {"results": self.results.state()} if self.matchmaker.reads_results else {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state."""
        if "results" in state:
            self.results = Results.of(state["results"])


def is_snapshot(name: str) -> bool:
    """Return whether this is the name of a snapshot."""
    return name.startswith("step-")

"""Settings of the environment, checked when they are read; a mistake is one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import verifiers.v1 as vf
from pydantic import Field, model_validator

from stratagem.base.consent.table import allow_named
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.registry import split_arguments
from stratagem.games.base import Game
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.modes import check_style

MOST_SEATS = 7
"""Number of roles that the environment declares; Diplomacy has as many seats."""


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn a mistake into what pydantic reports."""
    try:
        yield
    except StratagemError as error:
        raise ValueError(str(error)) from None


class DealsConfig(vf.TasksetConfig):
    """Game, deals and prompts."""

    game: str = "kuhn"
    """Game with its parameters, such as `ipd(rounds=20)`."""
    seed: int = 0
    """Seed of the deals."""
    style: str = "plain"
    """Prompt style by name."""

    @model_validator(mode="after")
    def _check(self) -> DealsConfig:
        with one_sentence():
            game = self.made()
            state = game.start(Key(0))
            check_style("free", self.look(), state.view(state.to_act[0]))
            if game.spec.seats > MOST_SEATS:
                raise BadParameter(f"{game.spec.name} has {game.spec.seats} seats, and there are {MOST_SEATS} roles.")
        return self

    def made(self) -> Game[Any]:
        """Make the game."""
        allow_named((self.game,))
        return make_game(self.game)

    def look(self) -> Style:
        """Make the prompt style."""
        return make_style(self.style)


def _role() -> vf.AgentConfig:
    """Return the default of a role: the run's model, asked in this process."""
    return vf.AgentConfig(runtime=vf.SubprocessConfig())


class GameEnvConfig(vf.EnvConfig):
    """Roles, and the players of Stratagem in the other places.

    A role keeps its place in the match, and its seat rotates from task to task. A role with a model of its own does
    not train the run's policy.
    """

    taskset: DealsConfig = DealsConfig()
    agents: int | None = Field(None, ge=1)
    """Number of agents; by default one if there are opponents, else as many as the game has seats."""
    opponents: str = ""
    """Players of Stratagem in the places after the agents, separated by commas; a single one takes them all."""
    player0: vf.AgentConfig = _role()
    player1: vf.AgentConfig = _role()
    player2: vf.AgentConfig = _role()
    player3: vf.AgentConfig = _role()
    player4: vf.AgentConfig = _role()
    player5: vf.AgentConfig = _role()
    player6: vf.AgentConfig = _role()

    @model_validator(mode="after")
    def _check(self) -> GameEnvConfig:
        if isinstance(self.taskset, DealsConfig):
            with one_sentence():
                self.seated(self.taskset.made())
        return self

    @property
    def names(self) -> list[str]:
        """Names of the opponents."""
        return split_arguments(self.opponents)

    def num_agents(self, game: Game[Any]) -> int:
        """Return the number of agents in a game."""
        return self.agents or (1 if self.names else game.spec.seats)

    def seated(self, game: Game[Any]) -> list[Player]:
        """Make the opponents in a game, one for each place after the agents."""
        agents, names, seats = self.num_agents(game), self.names, game.spec.seats
        others = seats - agents
        if others < 0 or (others > 0) != bool(names) or (names and len(names) not in (1, others)):
            raise BadParameter(
                f"{game.spec.name} has {seats} seats, which {agents} agents and {len(names)} opponents do not fill: "
                "each place after the agents has an opponent, or a single one takes them all."
            )
        allow_named(names)
        return [_opponent(name, game) for name in (names * others if len(names) == 1 else names)]


def _opponent(name: str, game: Game[Any]) -> Player:
    player = make_player(name, game)
    if not player.traits.repeats:
        raise BadParameter(
            f"{player.name} is asked elsewhere, which would stop all episodes: name scripted players, search or models "
            "of this machine, or give a role a model of its own, as in --env.player1.model."
        )
    return player

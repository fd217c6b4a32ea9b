"""Options of a task, checked, and the episodes that they ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import check_seed, whole
from stratagem.base.registry import split_arguments
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.given import allow_given, as_game
from stratagem.players.modes import check_style
from stratagem.playing.match import Match, Setup
from stratagem.playing.seating import seat_deal

MODEL = "model"
"""Opponent that is a model of inspect: that of the role `opponent`, or the evaluated one."""
NOBODY = "nobody"
"""Opponent in a game of one seat."""
_TASK = "A task of Stratagem"


@dataclass(frozen=True)
class InspectPlan:
    """Game, opponents, episodes and prompts of one task."""

    game: Game[Any]
    opponents: dict[str, Player | None]
    """Opponents by name; None for a model of inspect."""
    episodes: int
    """Number of episodes against each opponent."""
    seed: int
    style: Style
    chance: bool
    """True to play each deal by random play, too."""

    @cached_property
    def text(self) -> str:
        """Text that names the game."""
        return describe(self.game)

    @property
    def duel(self) -> bool:
        """True in a zero-sum game of two seats."""
        return self.game.spec.seats == 2 and self.game.spec.utility == "zero-sum"

    def match(self, agent: Player, opponent: Player) -> Match:
        """Seat the agent in slot 0 and its opponent in all others."""
        return Match(self.game, [agent, *[opponent] * (self.game.spec.seats - 1)])

    def setup(self, match: Match, number: int, epoch: int = 1) -> Setup:
        """Return a setup of `stratagem.play` with this seed; later epochs have deals of their own."""
        key, name = Key(self.seed), f"{self.text}/{self.seed}"
        if epoch > 1:
            key, name = key.at("epoch", epoch), f"{name}/epoch {epoch}"
        deal, turn = divmod(number, self.game.spec.seats)
        return seat_deal(match, deal, turn, key, name=name)


def make_plan(
    game: object, opponents: object, episodes: Any, seed: Any, style: object, *, chance: Any, default: str
) -> InspectPlan:
    """Check the options of a task, which may be anything; a mistake is one sentence."""
    whole(_TASK, "episodes", episodes, 1)
    check_seed(seed)
    if not isinstance(chance, bool):
        raise BadParameter(f"{_TASK} needs `chance` as true or false, not {chance!r}.")
    if not game:
        raise BadParameter(f"{_TASK} needs a game: say -T game=NAME, such as kuhn, or name the task of a game.")
    text, names = join_parts("game", game), split_arguments(join_parts("opponents", opponents or default))
    allow_given(*names)
    made = as_game(text)
    look = make_style(join_parts("style", style))
    state = made.start(Key(0))
    check_style("free", look, state.view(state.to_act[0]))
    players = {name: _opponent(name, made) for name in _each(names, made, given=opponents is not None)}
    return InspectPlan(made, players, episodes, seed, look, chance)


def join_parts(option: str, value: object) -> str:
    """Return a text that inspect has split at its commas: `ipd(rounds=20, continuation=0.5)`."""
    if isinstance(value, list | tuple):
        return ",".join(str(part) for part in value)
    if not isinstance(value, str):
        raise BadParameter(f"{_TASK} needs `{option}` as a text, not {value!r}.")
    return value


def _each(names: Sequence[str], game: Game[Any], *, given: bool) -> Sequence[str]:
    """Return each name once; the only seat of a game has no opponent."""
    if game.spec.seats > 1:
        return list(dict.fromkeys(names))
    if given:
        raise BadParameter(f"{game.spec.name} has one seat, so nobody can be its opponent: leave `opponents` out.")
    return [NOBODY]


def _opponent(name: str, game: Game[Any]) -> Player | None:
    """Make an opponent; refused where it would wait for something that is not here."""
    if name in (MODEL, NOBODY):
        return None
    player = make_player(name, game)
    if not player.traits.repeats:
        raise BadParameter(
            f"{player.name} is asked elsewhere, which would stop all samples: name scripted players, search or models "
            "of this machine, or give a model of inspect by --model-role opponent=MODEL."
        )
    return player

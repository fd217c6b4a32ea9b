"""Disguise around a player: it sees and says other words, and plays the same game."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn, Protocol, runtime_checkable

from stratagem.base.consent.table import check_read
from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.base import Game, View
from stratagem.games.disguise import Disguise, DisguisedView, generate_disguise, prove, read_disguise
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Chat, Request
from stratagem.language.prompting.past import Past
from stratagem.players.base import (
    Ask,
    Asking,
    Mix,
    Move,
    Player,
    ScoredActions,
    Traits,
    Turn,
    prompts_by,
    scores_of,
    stated_by,
)
from stratagem.players.members import WrapperPlayer
from stratagem.players.wrappers import Delayed, Noisy, check_player

_BUDGET, _EPISODES = 2_000, 5
"""Extent of the proof before a disguise made by hand is used."""


@runtime_checkable
class PartialReader(Protocol):
    """Player that cannot read every view of the games that it plays."""

    def check_view(self, view: View[Any]) -> None:
        """Refuse such a view, in one sentence."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """Player that searches with other players inside."""

    def around(self, wrap: Callable[[Player], Player]) -> Player:
        """Return the same search with its players wrapped."""
        ...


class WordlessView(View[Any]):
    """View of a player that declares to read no words: its texts are refused, so that the declaration holds."""

    @property
    def rules(self) -> str:
        _refuse()

    @property
    def situation(self) -> str:
        _refuse()


def _refuse() -> NoReturn:
    raise BadParameter("A player under a disguise that reads texts must declare it: Traits(reads_words=True).")


@dataclass(frozen=True)
class Disguised(WrapperPlayer):
    """Plays as another player does that sees the game in other words; players that read no words see it as it is."""

    player: Player
    seed: int = 0
    """Seed of the generated words."""
    file: str = ""
    """File of a disguise made by hand, in place of generated words."""

    def __post_init__(self) -> None:
        whole("disguise", "seed", self.seed, 0)
        if not isinstance(self.file, str):
            raise BadParameter(f"disguise needs `file` as a path, not {self.file!r}.")
        if isinstance(self.player, Disguised):
            raise BadParameter("disguise goes around a player that sees the game in plain words, and only once.")

    @property
    def name(self) -> str:
        option = f"file={self.file!r}" if self.file else f"seed={self.seed}"
        return f"disguise({self.player.name}, {option})"

    @property
    def traits(self) -> Traits:
        return self.player.traits

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without other words, and a player or a prompt style that cannot do with them."""
        check_player(self.player, game)
        disguise = self.disguise(game)
        if isinstance(self.player, PartialReader):
            state = game.start(Key(0))
            self.player.check_view(disguise.view(state.view(state.to_act[0])))

    def disguise(self, game: Game[Any]) -> Disguise:
        """Return the disguise of a game."""
        if not self.file:
            return generate_disguise(game, self.seed)
        check_read(Path(self.file))
        return _read(self.file, _version_of(self.file), game)

    def turn(self, ask: Ask) -> Turn:
        if not self.traits.reads_words:
            return self.player.turn(ask.seeing(_hide_words(ask.view)))
        disguise = self.disguise(ask.view.game)
        view = disguise.view(ask.view)
        turn = self.player.turn(ask.seeing(view, disguised_past(ask.past, disguise)))
        return _translate_move(turn, view) if isinstance(turn, Move) else _later(turn, view)

    def policy(self, view: View[Any]) -> Mix:
        return self.policies([view])[0]

    def policies(self, views: Sequence[View[Any]]) -> list[Mix]:
        """Return the probabilities in many situations, in one batch where the player has one."""
        if not self.traits.reads_words:
            return stated_by(self.player, [_hide_words(view) for view in views])
        seen = [self.disguise(view.game).view(view) for view in views]
        return [_plain_mix(mix, view) for mix, view in zip(stated_by(self.player, seen), seen, strict=True)]

    def prompts_in(self, views: Sequence[View[Any]]) -> list[Chat] | None:
        """Return the prompts in the words of the disguise."""
        return prompts_by(self.player, [self.disguise(view.game).view(view) for view in views])

    def scored(self, views: Sequence[View[Any]], ask: Asking | None = None) -> list[ScoredActions]:
        """Return the probabilities in many situations, where those of the player are scored."""
        seen = [self.disguise(view.game).view(view) for view in views]
        told = scores_of(self.player, seen, ask)
        return [ScoredActions(_plain_mix(mix, view), unseen) for (mix, unseen), view in zip(told, seen, strict=True)]


def disguise_player(player: Player, seed: int = 0, file: str = "") -> Player:
    """Put a disguise around a player; noise, delay and search stay outside, since they know the game itself."""
    if isinstance(player, Noisy | Delayed):
        return replace(player, player=disguise_player(player.player, seed, file))
    if isinstance(player, Searcher):
        return player.around(lambda inner: disguise_player(inner, seed, file))
    return Disguised(player, seed, file)


def _version_of(file: str) -> tuple[int, int] | None:
    """Return the time and the size of a file, so that one that was changed is read again; None without such a file."""
    try:
        found = Path(file).stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=64)
def _read(file: str, version: tuple[int, int] | None, game: Game[Any]) -> Disguise:
    disguise = read_disguise(file, game)
    prove(disguise, game, budget=_BUDGET, episodes=_EPISODES)
    return disguise


def _hide_words(view: View[Any]) -> WordlessView:
    return WordlessView(view.game, view.seat, view.facts)


def _later(turn: Generator[Request, Call, Move], view: DisguisedView) -> Generator[Request, Call, Move]:
    return _translate_move((yield from turn), view)


def _translate_move(move: Move, view: DisguisedView) -> Move:
    """Return the move in plain words; an action that is none under the disguise is an illegal reply."""
    if move.action is None:
        return move
    plain = view.plain_action(move.action)
    return move._replace(action=plain, said=move.said if plain else move.action)


def _plain_mix(mix: Mix, view: DisguisedView) -> Mix:
    plain = {view.plain_action(action): p for action, p in mix.items()}
    if None in plain:
        wrong = next(action for action in mix if view.plain_action(action) is None)
        raise BadParameter(f"Under a disguise {wrong!r} is none of the choices {view.choices.summary()}.")
    return {action: p for action, p in plain.items() if action is not None}


def disguised_past(past: Past, disguise: Disguise) -> Past:
    """Return the memory of earlier episodes in other words."""
    if past.last is None:
        return past
    counts = {tuple(map(disguise.translate_cached, joint)): count for joint, count in past.counts.items()}
    return Past(counts, tuple(map(disguise.translate_cached, past.last)), past.rounds)

"""Talkers: players of a game with talk, made of a player of the game without it and a rule for what is said.

What they say is a mixture that follows from their view, so its truth, its information and its effect have known values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import within
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.talk import MOVE, SILENT, Promise, Statement, Talk, TalkFacts, talk_in
from stratagem.games.text_parts import draw_text
from stratagem.players.base import Ask, Mix, Move, Player, Traits, Turn, draw, format_option, stated_by
from stratagem.players.members import ANY_FAMILY, WrapperPlayer, members_of
from stratagem.players.uniform import LISTABLE
from stratagem.players.wrappers import check_player

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Messages of a babbler where only open text can be said."""


@dataclass(frozen=True)
class TalkingPlayer(WrapperPlayer, ABC):
    """Says what its rule tells it, and moves as another player does that hears nothing."""

    label: ClassVar[str]
    """Name of the wrapper."""
    player: Player

    @property
    def name(self) -> str:
        return f"{self.label}({self.player.name})"

    @property
    def traits(self) -> Traits:
        return replace(self.player.traits, stochastic=True, scored=False)

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without talk, and one that the inner player cannot play."""
        check_player(self.player, talk_of(game, self.label).game)

    @abstractmethod
    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        """Return what it says in this situation, as texts with probabilities; the empty text is silence."""

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        """Return how it moves in this situation, where the inner player moves by `mix`."""
        return mix

    def turn(self, ask: Ask) -> Turn:
        talk = talk_of(ask.view.game, self.label)
        if ask.view.facts.exchange == MOVE and type(self).moves is TalkingPlayer.moves:
            return self.player.turn(ask.seeing(talk.inner_view(ask.view.facts)))
        return Move(draw(self.policy(ask.view), ask.key))

    def policy(self, view: View[TalkFacts]) -> Mix:
        return self.policies([view])[0]

    def policies(self, views: Sequence[View[TalkFacts]]) -> list[Mix]:
        """Return the probabilities in many situations, in one batch where the inner player has one."""
        moving = [view for view in views if view.facts.exchange == MOVE]
        inner = [talk_of(view.game, self.label).inner_view(view.facts) for view in moving]
        stated = iter(stated_by(self.player, inner))
        return [self._mix(view, stated) for view in views]

    def _mix(self, view: View[TalkFacts], stated: Iterator[Mix]) -> Mix:
        talk = talk_of(view.game, self.label)
        if view.facts.exchange == MOVE:
            return self.moves(talk, view, next(stated))
        return address_texts(talk, view, self.says(talk, view))


class Silent(TalkingPlayer):
    """Never sends a message."""

    label = "silent"

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0}


class BabblingTalker(TalkingPlayer):
    """Says anything with equal probability, whatever it knows: a babbling equilibrium (Crawford and Sobel 1982).

    Where only open text can be said, it says a letter.
    """

    label = "babbler"

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        ready = [*(intent.text for intent in talk.sayable(talk.inner_view(view.facts))), *talk.further]
        constrained = [draw_text(form.part, Key(number)) for form in talk.patterns for number in range(len(_LETTERS))]
        return even(ready or constrained or [*_LETTERS])


class HonestTalker(TalkingPlayer):
    """Says what is true of the state; without statements about it, promises as its player would move, and moves so."""

    label = "honest"

    def check(self, game: Game[Any]) -> None:
        """Refuse also a player that cannot say what it will do, where there is nothing else to say."""
        super().check(game)
        _check_promising(self, talk_of(game, self.label))

    def turn(self, ask: Ask) -> Turn:
        """Play as the inner player does where nothing was promised."""
        talk, facts = talk_of(ask.view.game, self.label), ask.view.facts
        if facts.exchange == MOVE and not promises(talk, facts):
            return self.player.turn(ask.seeing(talk.inner_view(facts)))
        return super().turn(ask)

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return speak_as(talk, view, self.player, truly=True)

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        return condition_on(mix, lambda action: keeps(talk, view, action), view.choices)


@dataclass(frozen=True)
class LyingTalker(TalkingPlayer):
    """Says with probability `p` what is false, or promises what its player would not do; speaks honestly otherwise."""

    label = "liar"
    p: float = 1.0

    def __post_init__(self) -> None:
        within("liar", "p", self.p, 0.0, 1.0)

    @property
    def name(self) -> str:
        return f"{self.label}({self.player.name}, p={format_option(self.p)})"

    def check(self, game: Game[Any]) -> None:
        """Refuse also a player that cannot say what it will do, where there is nothing else to say."""
        super().check(game)
        _check_promising(self, talk_of(game, self.label))

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        honest = speak_as(talk, view, self.player, truly=True)
        false = speak_as(talk, view, self.player, truly=False)
        return mix_mixtures((1.0 - self.p, honest), (self.p, false if any(false) else honest))


class InvertingTalker(TalkingPlayer):
    """Says for each true statement the next one of its form: a code, which tells all to who knows it."""

    label = "inverter"

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        inner = talk.inner_view(view.facts)
        statements = _statements(talk, inner)
        coded = [
            alike[(alike.index(true) + 1) % len(alike)].text
            for true in statements
            if true.truth(inner)
            for alike in [[other for other in statements if other.form == true.form]]
        ]
        return even(coded) if coded else {"": 1.0}


TALKERS: dict[str, type[TalkingPlayer]] = {
    talker.label: talker for talker in (Silent, BabblingTalker, HonestTalker, LyingTalker, InvertingTalker)
}
"""Talkers by name."""


def talk_of(game: Game[Any], owner: str) -> Talk:
    """Return a game that has talk; refused where it has none."""
    if (talk := talk_in(game)) is None:
        raise BadParameter(f"{owner} plays games with talk, such as talk({game.spec.name}), not {game.spec.name}.")
    return talk


def check_game(owner: str, game: Game[Any], known: Mapping[str, type[Game[Any]]]) -> None:
    """Refuse a game unless it is talk around one of the known games, by the names that a user knows."""
    if not isinstance(inner := talk_of(game, owner).game, tuple(known.values())):
        *others, last = known
        names = f"{', '.join(others)} and {last}" if others else last
        raise BadParameter(f"{owner} plays talk around {names}, not around {inner.spec.name}.")


def make_hearer(player: Player, game: Game[Any]) -> Player:
    """Return a player that can play a game: one of the family of a game without talk stays silent in it."""
    members = members_of(player)
    spoken = members.family == ANY_FAMILY or members.talks
    return player if spoken or not game.has_talk else Silent(player)


def even(texts: Sequence[str]) -> Mix:
    """Return the uniform mixture of some texts."""
    return {text: texts.count(text) / len(texts) for text in texts}


def mix_mixtures(*parts: tuple[float, Mix]) -> Mix:
    """Return the mixture of some mixtures, with their weights."""
    mix: dict[str, float] = {}
    for weight, part in parts:
        for action, p in part.items():
            if weight * p > 0.0:
                mix[action] = mix.get(action, 0.0) + weight * p
    return mix


def address_texts(talk: Talk, view: View[TalkFacts], texts: Mix) -> Mix:
    """Return legal lines for what is said: to all where that is possible, else to every reader equally often."""
    heads = talk.heads(view.seat)[:1] if talk.channel == "both" else talk.heads(view.seat)
    mix: dict[str, float] = {}
    for text, p in texts.items():
        for line in [SILENT] if not text else [f"{head}{text}" for head in heads or ("",)]:
            mix[line] = mix.get(line, 0.0) + p / (1 if not text else len(heads) or 1)
    return mix


def promises(talk: Talk, facts: TalkFacts) -> list[Promise]:
    """Return what this seat has promised in this round about its own moves."""
    said = (m.text for m in facts.of_round if m.sender == facts.seat and m.text)
    read = (talk.spoken_language.read(text) for text in said)
    return [intent for intent in read if isinstance(intent, Promise) and intent.kind == "move"]


def keeps(talk: Talk, view: View[TalkFacts], action: str) -> bool:
    """Return whether an action breaks nothing that its seat has promised."""
    inner = talk.inner_view(view.facts)
    return all(promise.kept(inner, action) is not False for promise in promises(talk, view.facts))


def _statements(talk: Talk, inner: View[Any]) -> list[Statement]:
    return [intent for intent in talk.sayable(inner) if isinstance(intent, Statement)]


def speak_as(talk: Talk, view: View[TalkFacts], player: Player, *, truly: bool) -> Mix:
    """Return what a truthful speaker, or a liar, says: statements, else promises of a player's moves, else nothing.

    All statements that are true by what the speaker knows, or false, are equally likely. For an action of the player's
    policy the truth is the promise that it keeps and that fewest others keep, where they can be listed; a lie is any
    that it breaks.
    """
    inner = talk.inner_view(view.facts)
    stated = [statement.text for statement in _statements(talk, inner) if statement.truth(inner) is truly]
    if stated:
        return even(stated)
    sayable = [intent for intent in talk.sayable(inner) if isinstance(intent, Promise) and intent.kind == "move"]
    if not sayable or player.traits.searches or not player.traits.exact:
        return {"": 1.0}
    return mix_mixtures(*((p, _promise_of(inner, sayable, a, truly)) for a, p in player.policy(inner).items()))


def _promise_of(inner: View[Any], sayable: Sequence[Promise], action: str, truly: bool) -> Mix:
    said = [promise for promise in sayable if promise.kept(inner, action) is truly]
    if not said:
        return {"": 1.0}
    if not truly:
        return even([promise.text for promise in said])
    if inner.choices.count > LISTABLE:
        return even([promise.text for promise in said])
    return {min(said, key=lambda promise: sum(bool(promise.kept(inner, a)) for a in inner.choices)).text: 1.0}


def _check_promising(talker: TalkingPlayer, talk: Talk) -> None:
    """Refuse a player that states no probabilities, by which it could promise, where no statement can be said."""
    state = talk.game.start(Key(0))
    views = [state.view(seat) for seat in talk.who]
    sayable = {intent.kind for view in views for intent in talk.sayable(view)}
    if "state" in sayable or "move" not in sayable or _states(talker.player, views):
        return
    raise BadParameter(
        f"{talker.label} promises by the probabilities of its player's moves, and {talker.player.name} states none in "
        f"{talk.game.spec.name}: take another player"
        + (", or dumbbot-press, which talks." if talk.game.spec.family == "diplomacy" else ".")
    )


def _states(player: Player, views: Sequence[View[Any]]) -> bool:
    """Return whether a player states its probabilities; one that is cheap is asked in these situations."""
    if player.traits.searches or not player.traits.exact or player.traits.price > 1:
        return player.traits.exact and not player.traits.searches
    try:
        stated_by(player, views)
    except CannotCompute:
        return False
    return True


def condition_on(mix: Mix, holds: Callable[[str], bool], choices: Iterable[str]) -> Mix:
    """Condition a mixture on a property of the action; without a likely one, all legal ones that have it."""
    likely = {action: p for action, p in mix.items() if p > 0.0 and holds(action)}
    total = sum(likely.values())
    if total:
        return {action: p / total for action, p in likely.items()}
    others = [action for action in choices if holds(action)]
    return even(others) if others else mix


__all__ = [
    "TALKERS",
    "TalkingPlayer",
    "check_game",
    "condition_on",
    "make_hearer",
    "mix_mixtures",
    "promises",
    "speak_as",
    "talk_of",
]

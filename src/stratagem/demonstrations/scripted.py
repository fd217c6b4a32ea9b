"""What a model learns before it plays for itself (SEPO, stage 1): decisions of scripted demonstrators, put in words.

A demonstrator is drawn for every episode and meets one of the first five different strategies of the pools. Each of its
decisions can become an example: the prompt, why the demonstrator does what it does, and its action. As many as are
asked for are drawn without repetition; where there are too few, all are taken, and then drawn again and worded anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from stratagem.demonstrations.reasoning.catalogue import reasoning
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.options import whole
from stratagem.play.forks import steps
from stratagem.play.match import Match, Setup
from stratagem.play.scheduler import play
from stratagem.players.catalogue import make_player
from stratagem.players.pools import demonstrators, draw_demonstrator, sft_opponents
from stratagem.prompting.base import Message, Style
from stratagem.prompting.catalogue import make_style

T = TypeVar("T")

EPISODES = {"ipd": 200, "auction": 267, "negotiation-v1": 400, "negotiation-v2": 200, "kuhn": 200}
"""By family of games: the episodes against each opponent (SEPO, appendix H)."""
FIFTH = 5
"""One episode of so many is held out."""
_CLOSING = {"<": ">"}
"""What ends an action, by the mark that begins it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """One decision as an example to learn from."""

    messages: tuple[Message, ...]
    """The prompt."""
    reply: str
    """What is to be learnt: the action, after reasoning where the style asks for it."""
    game: str
    info_key: str
    """The information set in which the action was played."""
    action: str
    demonstrator: str
    """Who played it, with its version, as records name players."""
    opponent: str
    episode: str
    """Examples of one episode are all held out or none."""
    held_out: bool
    """Whether it is for validation."""
    repeat: int = 0
    """How often the same decision had been drawn already."""

    def row(self) -> dict[str, Any]:
        """The same as plain data: a chat that ends with the reply, and what is known of it."""
        chat = [message._asdict() for message in (*self.messages, Message("assistant", self.reply))]
        known = ("game", "info_key", "action", "demonstrator", "opponent", "episode")
        return {"messages": chat, **{name: getattr(self, name) for name in known}}


class Bout(NamedTuple):
    """An episode that is to be played, and what its examples say of it."""

    setup: Setup
    demonstrator: str
    """As the table of demonstrators names it; the record's name has a version."""
    held_out: bool


class Shown(NamedTuple):
    """A decision of a demonstrator."""

    bout: Bout
    view: View[Any]
    action: str
    turn: int


class Drawn(NamedTuple):
    """A decision that becomes an example, for the first time or once more."""

    shown: Shown
    repeat: int


def demonstrations(
    game: Game[Any], count: int, key: Key, *, style: Style | str = "reasoned", episodes: int | None = None
) -> Iterator[Demonstration]:
    """`count` examples, shuffled; four fifths are to learn from, the others held out by whole episodes.

    The episodes (`episodes` against each opponent, by default as many as SEPO has) are played when the first example is
    asked for; each example is put in words in its turn.
    """
    demonstrators(game)  # says which games have any
    played = EPISODES[game.spec.family] if episodes is None else episodes
    whole("A set of demonstrations", "count", count, 1)
    whole("A set of demonstrations", "episodes", played, 1)
    asked = make_style(style) if isinstance(style, str) else style
    opening = game.start(key)
    asked.messages(opening.view(opening.to_act[0]))  # says which games the style is for
    return (worded(drawn, asked) for drawn in chosen(game, count, key, played))


def num_taught(count: int) -> int:
    """How many of so many examples are not held out: four fifths, rounded."""
    return (count * (FIFTH - 1) + FIFTH // 2) // FIFTH


def chosen(game: Game[Any], count: int, key: Key, episodes: int) -> Iterator[Drawn]:
    """The decisions that become examples, in their order."""
    key = key.at("demonstrations", describe(game))
    shown = list(decisions(bouts(game, episodes, key)))
    taught = draw([one for one in shown if not one.bout.held_out], num_taught(count), key.at("taught"))
    held = draw([one for one in shown if one.bout.held_out], count - num_taught(count), key.at("held out"))
    yield from shuffled([*taught, *held], key.at("order"))


def bouts(game: Game[Any], episodes: int, key: Key) -> Iterator[Bout]:
    """So many episodes against each opponent, seats rotated; against each, every fifth is held out."""
    players = {name: make_player(name, game) for name in (*demonstrators(game), *sft_opponents(game))}
    for number in range(episodes):
        for place, opponent in enumerate(sft_opponents(game)):
            at = key.at("episode", opponent, number)
            name = draw_demonstrator(game, at.at("demonstrator"))
            others = [players[opponent]] * (game.spec.seats - 1)
            setup = Setup(
                id=f"{game.spec.name}/{opponent}/{number}",
                match=Match(game, [players[name], *others]),
                slots=tuple((seat - number) % game.spec.seats for seat in range(game.spec.seats)),
                key=at,
                purpose="train",
            )
            yield Bout(setup, name, (number + place) % FIFTH == 0)


def decisions(wanted: Iterator[Bout]) -> Iterator[Shown]:
    """Every decision of the demonstrators, who sit in the first slot."""
    for bout in wanted:
        (episode,) = play([bout.setup])
        seat = episode.seat_of(0)
        for state, rows in steps(episode):
            for row in rows:
                if row.seat == seat and row.action is not None:
                    yield Shown(bout, state.view(seat), row.action, row.turn)


def draw(shown: Sequence[Shown], count: int, key: Key) -> list[Drawn]:
    """So many of these, each once before any comes again, in an order that follows from the key."""
    order = shuffled(shown, key)
    return [Drawn(order[place % len(order)], place // len(order)) for place in range(count)]


def shuffled(items: Sequence[T], key: Key) -> list[T]:
    """The same things in an order that follows from the key."""
    ranks = [key.at(place).value for place in range(len(items))]
    return [items[place] for place in sorted(range(len(items)), key=ranks.__getitem__)]


def worded(drawn: Drawn, style: Style) -> Demonstration:
    """The example that a decision makes, in the words that its key draws."""
    (bout, view, action, turn), repeat = drawn
    setup = bout.setup
    key = setup.key.at("words", turn, repeat)
    demonstrator, opponent = setup.match.names[:2]
    return Demonstration(
        messages=tuple(style.messages(view)),
        reply=reply(style, action, reasoning(bout.demonstrator, view, action, key) if reasons(style) else ""),
        game=setup.match.text,
        info_key=view.info_key,
        action=action,
        demonstrator=demonstrator,
        opponent=opponent,
        episode=setup.id,
        held_out=bout.held_out,
        repeat=repeat,
    )


def reasons(style: Style) -> bool:
    """Whether a style asks for reasoning before the action: it has a mark, and does not say otherwise."""
    return bool(style.mark) and getattr(style, "reason", True)


def reply(style: Style, action: str, thought: str = "") -> str:
    """What is said to a style's question: the reasoning, if any, and the action on a line of its own."""
    said = f"{style.mark}{style.lead}{action}{_CLOSING.get(style.mark, '')}"
    return f"{thought}\n{said}" if thought else said

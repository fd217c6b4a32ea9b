"""SFT data from scripted demonstrators (SEPO, stage 1).

A demonstrator is drawn for every episode and plays one of the first five different strategies of the pools. Each of its
decisions can become an example: the prompt, the reasoning of the demonstrator, and its action. Decisions are drawn
without repetition; where there are too few, all are taken, and then drawn again with new wordings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.safety.base import Mixture, Pools
from stratagem.games.safety.catalogue import safety_of
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.reasoning.catalogue import reasoning
from stratagem.players.base import Player
from stratagem.players.pools import NOBODY, NONE, demonstrators, draw_demonstrator, make_named, sft_opponents
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play


class Cast(NamedTuple):
    """Names of the demonstrators with their weights, and of their opponents."""

    demonstrators: Mapping[str, float]
    opponents: tuple[str, ...]

    def make(self, game: Game[Any]) -> dict[str, Player]:
        """Make every player once, by name."""
        opponents = {name: make_named("The opponents of demonstrators", name, game) for name in self.opponents}
        return opponents | {name: make_named("The demonstrators", name, game) for name in self.demonstrators}


def cast_of(game: Game[Any], own: Mixture = NOBODY, own_pools: Pools = NONE) -> Cast:
    """Return the cast of a game: the demonstrators and pools that a recipe names, or else those of the game."""
    opponents = sft_opponents(game, own_pools)
    if not opponents:
        raise BadParameter(f"{game.spec.name} has no opponents for demonstrations: name players in its pools.")
    return Cast(demonstrators(game, own, own_pools), opponents)


T = TypeVar("T")

EPISODES = 200
"""Number of episodes against each opponent, where the game names none."""
FIFTH = 5
"""Number of episodes of which one is held out: SEPO splits its sets 80 / 20."""
_CLOSING = {"<": ">"}
"""Closing mark of an action, by its opening mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """Decision of a demonstrator as a training example."""

    messages: tuple[ChatMessage, ...]
    """Prompt."""
    reply: str
    """Target of training: the action, after reasoning where the style asks for it."""
    game: str
    info_key: str
    """Information set of the decision."""
    action: str
    demonstrator: str
    """Name and version of the demonstrator, as records name players."""
    opponent: str
    episode: str
    """Id of the episode; its examples are held out together."""
    held_out: bool
    """True for an example of the validation set."""
    repeat: int = 0
    """Number of earlier draws of the same decision."""

    def row(self) -> dict[str, Any]:
        """Return plain data: a chat that ends with the reply, and its metadata."""
        chat = [message._asdict() for message in (*self.messages, ChatMessage("assistant", self.reply))]
        known = ("game", "info_key", "action", "demonstrator", "opponent", "episode")
        return {"messages": chat, **{name: getattr(self, name) for name in known}}


class PlannedEpisode(NamedTuple):
    """Episode to be played, and the metadata of its examples."""

    setup: Setup
    demonstrator: str
    """Name in the table of demonstrators; the record's name has a version."""
    held_out: bool


class DemonstratorDecision(NamedTuple):
    """Decision of a demonstrator."""

    episode: PlannedEpisode
    view: View[Any]
    action: str
    turn: int


class DrawnDecision(NamedTuple):
    """Decision drawn as an example, with the number of earlier draws."""

    decision: DemonstratorDecision
    repeat: int


def demonstrations(
    game: Game[Any],
    count: int,
    key: Key,
    *,
    style: Style | str = "reasoned",
    episodes: int | None = None,
    cast: Cast | None = None,
) -> Iterator[Demonstration]:
    """Yield `count` examples, shuffled; four fifths for training, the others held out by whole episodes.

    The episodes (`episodes` against each opponent, by default as many as SEPO has) are played when the first example is
    requested; each example is written when it is requested. The players are those of `cast`, or else the game's.
    """
    cast = cast or cast_of(game)
    cast.make(game)  # an error names who cannot play
    played = num_episodes(game) if episodes is None else episodes
    whole("A set of demonstrations", "count", count, 1)
    whole("A set of demonstrations", "episodes", played, 1)
    chosen_style = make_style(style) if isinstance(style, str) else style
    opening = game.start(key)
    chosen_style.messages(opening.view(opening.to_act[0]))  # an error names the games of the style
    return (make_demonstration(drawn, chosen_style) for drawn in draw_decisions(game, count, key, played, cast))


def num_episodes(game: Game[Any]) -> int:
    """Return the number of episodes against each opponent (SEPO, appendix H)."""
    safety = safety_of(game)
    return safety.demonstration_episodes if safety else EPISODES


def num_training(count: int) -> int:
    """Return the number of training examples among `count`: four fifths, rounded."""
    return (count * (FIFTH - 1) + FIFTH // 2) // FIFTH


def draw_decisions(
    game: Game[Any], count: int, key: Key, episodes: int, cast: Cast | None = None
) -> Iterator[DrawnDecision]:
    """Draw the decisions that become examples, in their order."""
    key = key.at("demonstrations", describe(game))
    played = play_demonstrators(game, episodes, key, cast or cast_of(game))
    if {one.episode.held_out for one in played} != {True, False}:
        raise CannotCompute(f"The demonstrators of {game.spec.name} made too few legal decisions to imitate.")
    train = draw([one for one in played if not one.episode.held_out], num_training(count), key.at("taught"))
    held_out = draw([one for one in played if one.episode.held_out], count - num_training(count), key.at("held out"))
    yield from shuffle_items([*train, *held_out], key.at("order"))


def play_demonstrators(game: Game[Any], episodes: int, key: Key, cast: Cast) -> list[DemonstratorDecision]:
    """Play the episodes against each opponent, and return the decisions of the demonstrators."""
    return list(decisions(planned_episodes(game, episodes, key, cast)))


def planned_episodes(game: Game[Any], episodes: int, key: Key, cast: Cast | None = None) -> Iterator[PlannedEpisode]:
    """Plan the episodes against each opponent, with seats rotated; against each, every fifth is held out."""
    cast = cast or cast_of(game)
    players = cast.make(game)
    for number in range(episodes):
        for index, opponent in enumerate(cast.opponents):
            at = key.at("episode", opponent, number)
            name = draw_demonstrator(cast.demonstrators, at.at("demonstrator"))
            others = [players[opponent]] * (game.spec.seats - 1)
            setup = Setup(
                id=f"{game.figure_name}/{opponent}/{number}",
                match=Match(game, [players[name], *others]),
                slots=tuple((seat - number) % game.spec.seats for seat in range(game.spec.seats)),
                key=at,
                purpose="train",
            )
            yield PlannedEpisode(setup, name, (number + index) % FIFTH == 0)


def decisions(planned: Iterator[PlannedEpisode]) -> Iterator[DemonstratorDecision]:
    """Play the episodes, and yield every decision of the demonstrators, which have the first slot."""
    for episode_plan in planned:
        (episode,) = play([episode_plan.setup])
        seat = episode.seat_of(0)
        beginning = episode_plan.setup.match.game.start(Key(episode.chance))  # to find it by its name takes a third
        for state, rows in steps(episode, beginning=beginning):
            for row in rows:
                if row.seat == seat and row.action is not None:
                    yield DemonstratorDecision(episode_plan, state.view(seat), row.action, row.turn)


def draw(items: Sequence[DemonstratorDecision], count: int, key: Key) -> list[DrawnDecision]:
    """Draw `count` decisions, each once before any is repeated, in an order that follows from the key."""
    order = shuffle_items(items, key)
    return [DrawnDecision(order[index % len(order)], index // len(order)) for index in range(count)]


def shuffle_items(items: Sequence[T], key: Key) -> list[T]:
    """Shuffle items in an order that follows from the key."""
    ranks = [key.at(index).value for index in range(len(items))]
    return [items[index] for index in sorted(range(len(items)), key=ranks.__getitem__)]


def make_demonstration(drawn: DrawnDecision, style: Style) -> Demonstration:
    """Make the example of a decision, with the wording that its key draws."""
    (episode, view, action, turn), repeat = drawn
    setup = episode.setup
    key = setup.key.at("words", turn, repeat)
    demonstrator, *others = setup.match.names
    return Demonstration(
        messages=tuple(style.messages(view)),
        reply=reply(style, action, reasoning(episode.demonstrator, view, action, key) if reasons(style) else ""),
        game=setup.match.text,
        info_key=view.info_key,
        action=action,
        demonstrator=demonstrator,
        opponent=others[0] if others else "",
        episode=setup.id,
        held_out=episode.held_out,
        repeat=repeat,
    )


def reasons(style: Style) -> bool:
    """Test whether a style asks for reasoning before the action: it says so or, where it says nothing, has a mark."""
    asked = getattr(style, "reason", None)
    return bool(style.mark) if asked is None else bool(asked)


def reply(style: Style, action: str, thought: str = "") -> str:
    """Write the reply of a style: the reasoning, if any, and the action on a line of its own."""
    answer = f"{style.mark}{style.lead}{action}{_CLOSING.get(style.mark, '')}"
    return f"{thought}\n{answer}" if thought else answer

"""Texts of a described game: its rules in sentences that say all of it, and what a seat has seen in words."""

from __future__ import annotations

from functools import lru_cache

from stratagem.games.base import Seat
from stratagem.games.counting import count_in_words, in_words, plural_of
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.events import ALL, DescribedFacts, Event
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.wordings import ROLES, Words


@lru_cache(maxsize=512)
def write_rules(game: GameDescription, seat: Seat) -> str:
    """Return the rules for a seat: players and rounds, what is dealt, and the steps of a round, a sentence each."""
    words = Words(game.wording, game.unit, game.seats, None if game.turns else ROLES[seat])
    lines = [*_begin(game, words), *(_describe_item(item, words) for item in game.items)]
    if game.rounds > 1:
        lines.append(words.say("begin.rounds"))
    for number, step in enumerate(game.steps):
        lines += step.rules(game, number, words)
    if game.rounds > 1 and not game.forget:
        lines.append(words.say("end.payoffs"))
    if any(step.may_leave() for step in game.steps) and game.seats > 1:
        lines.append(words.say("end.left"))
    if not game.turns:
        lines.append(words.say("end.seat", ROLES[seat], place=ROLES[seat]))
    return "\n".join(lines)


def _begin(game: GameDescription, words: Words) -> list[str]:
    """Return the sentences about players, rounds and the unit."""
    often = count_in_words(game.rounds, "round")
    cut = game.continuation < 1.0 and game.rounds > 1
    if cut:
        often = words.say("begin.up_to", rounds=often)
    players = count_in_words(game.seats, "player")
    lines = [words.say("begin.players", "each", players=players, often=often)]
    if cut:
        lines.append(words.say("begin.continuation", probability=f"{game.continuation:g}"))
    if game.turns:
        lines.append(words.say("begin.turns"))
    if game.forget:
        lines.append(words.say("begin.forget"))
    return [*lines, words.say("begin.unit")]


def _describe_item(item: DealtItem, words: Words) -> str:
    """Return the sentence about a kind of thing that is dealt."""
    listed = ", ".join(map(str, item.values))
    if item.again:
        return words.say("item.again", name=item.name, listed=listed)
    deck = {"plural": item.plural, "count": in_words(item.copies), "listed": listed}
    return (
        words.say("item.suited", **deck, suits=", ".join(item.suits)) if item.suits else words.say("item.deck", **deck)
    )


def write_situation(game: GameDescription, facts: DescribedFacts) -> str:
    """Return what a seat has seen and done, a line each, and what it is asked."""
    lines: list[str] = []
    if game.turns or game.rounds > 1:
        role = ROLES[(facts.seat - facts.first) % game.seats]
        turn = f" You are the {role} player in this round." if game.turns else ""
        if game.forget:
            lines += [turn.strip()] if turn else []
        else:
            lines.append(f"Round {min(facts.round + 1, game.rounds)}.{turn}")
    first = facts.first if game.forget else 0
    for event in facts.log:
        if event.kind == "round" and game.turns:
            first = (int(event.what) - 1) % game.seats
        lines.append(_describe_event(game, facts, event, first))
    if not facts.log:
        lines.append("Nothing has happened yet.")
    if facts.legal:
        lines.append("It is your turn.")
    return "\n".join(lines)


def _describe_event(game: GameDescription, facts: DescribedFacts, event: Event, first: Seat) -> str:
    """Return an event of a round in which the seat `first` was first."""
    kind, seat, what, number = event
    who = "You" if seat == facts.seat else _player(game, seat, first)
    if kind == "gets":
        return f"You get the {game.items[number].name} {what}."
    if kind == "opens":
        return f"The {game.items[number].name} {what} lies open."
    if kind == "shows":
        return f"{who} show{'' if who == 'You' else 's'} the {game.items[number].name} {what}."
    if kind == "pays":
        return f"The round is over: you get {what} {game.unit if what == '1' else plural_of(game.unit)}."
    if kind == "round":
        return f"Round {what} begins."
    name = game.steps[number].name
    return f"{who}: {what}{f' ({name})' if name else ''}."


def _player(game: GameDescription, seat: Seat, first: Seat) -> str:
    """Name another player by its place in the order of the round, as the rules do."""
    if seat == ALL:
        return "Nobody"
    if game.turns and game.seats == 2:
        return "The other player"
    return f"The {ROLES[(seat - first) % game.seats]} player"

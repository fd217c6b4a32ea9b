"""Texts of a described game: its rules in sentences that say all of it, and what a seat has seen in words."""

from __future__ import annotations

from functools import lru_cache

from stratagem.games.base import Seat
from stratagem.games.counting import count_in_words, in_words
from stratagem.games.drawn.description import ROLES, GameDescription, Words
from stratagem.games.drawn.events import ALL, DescribedFacts, Event
from stratagem.games.drawn.items import DealtItem


@lru_cache(maxsize=512)
def write_rules(game: GameDescription, seat: Seat) -> str:
    """Return the rules for a seat: players and rounds, what is dealt, and the steps of a round, a sentence each."""
    words = Words(game.wording, game.unit)
    lines = [*_begin(game, words), *(_describe_item(item, words) for item in game.items)]
    if game.rounds > 1:
        lines.append(words.say("In every round:", "This is what happens in each round:"))
    for step in game.steps:
        lines += step.rules(game, words)
    if game.rounds > 1 and not game.forget:
        lines.append(
            words.say(
                "After each round every player learns its own payoff of the round.",
                "When a round is over, each player is told what it has earned in it.",
            )
        )
    if any(step.may_leave() for step in game.steps) and game.seats > 1:
        lines.append(
            words.say(
                "As soon as one player is left in a round, nothing more is dealt or chosen in it.",
                "Once a single player is left, the round has no more deals and choices.",
            )
        )
    if not game.turns:
        lines.append(words.say(f"You are the {ROLES[seat]} player.", f"You are player {seat + 1}."))
    return "\n".join(lines)


def _begin(game: GameDescription, words: Words) -> list[str]:
    """Return the sentences about players, rounds and the unit."""
    rounds = count_in_words(game.rounds, "round")
    cut = game.continuation < 1.0 and game.rounds > 1
    often = words.say(f"up to {rounds}", f"at most {rounds}") if cut else rounds
    players = f"{in_words(game.seats)} player{'s' * (game.seats != 1)}"
    lines = [words.say(f"A game for {players} in {often}.", f"This game has {players} and takes {often}.")]
    if cut:
        lines.append(
            words.say(
                f"After a round another one follows with probability {game.continuation:g}.",
                f"The chance of another round after a round is {game.continuation:g}.",
            )
        )
    if game.turns:
        lines.append(
            words.say(
                "The players take turns to be the first player, from round to round.",
                "The place of the first player goes from player to player with every round.",
            )
        )
    if game.forget:
        lines.append(words.say("Only the present round is seen.", "Earlier rounds are not seen any more."))
    lines.append(words.say(f"Your payoff is counted in {words.unit}s.", f"Payoffs are counted in {words.unit}s."))
    return lines


def _describe_item(item: DealtItem, words: Words) -> str:
    """Return the sentence about a kind of thing that is dealt."""
    listed = ", ".join(map(str, item.values))
    if item.again:
        return words.say(
            f"Each {item.name} shows one of these, all equally likely and from low to high: {listed}.",
            f"The {item.name} has these equally likely values, the lowest first: {listed}.",
        )
    suits = ""
    if item.suits:
        suits = words.say(" in each of the suits ", ", in every suit of ") + ", ".join(item.suits)
    count = in_words(item.copies)
    return words.say(
        f"The deck of {item.plural} has {count} of each of these, from low to high: {listed}{suits}.",
        f"There is a deck of {item.plural}, {count} of every value, the lowest first: {listed}{suits}.",
    )


def write_situation(game: GameDescription, facts: DescribedFacts) -> str:
    """Return what a seat has seen and done, a line each, and what it is asked."""
    words = Words(game.wording, game.unit)
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
        lines.append(_describe_event(game, facts, event, words, first))
    if not facts.log:
        lines.append("Nothing has happened yet.")
    if facts.legal:
        lines.append("It is your turn.")
    return "\n".join(lines)


def _describe_event(game: GameDescription, facts: DescribedFacts, event: Event, words: Words, first: Seat) -> str:
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
        return f"The round is over: you get {what} {words.unit}{'s' * (what != '1')}."
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

"""Drawn matrix games and signalling games: tables of payoffs over choices, hidden values and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stratagem.games.drawn.description import Step
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.generator.sketch import Size, Sketch, free_choice, grown
from stratagem.games.drawn.steps.choosing import Choose, Option
from stratagem.games.drawn.steps.dealing import Deal, Show
from stratagem.games.drawn.steps.paying import PayoffTable

_KINDS = ("zero-sum", "opposed in part", "free", "common in part")


def sketch_matrix(words: Lexicon, size: Size) -> Sketch:
    """Draw a matrix game: at once or in turn, once or repeated, perhaps with a dealt value that some see."""
    time = words.one("time", ("together", "together", "in turn"))
    state = words.one("state", ("none", "none", "first knows", "second knows", "both know", "each has one"))
    kind = words.one("kind", _KINDS)
    least, longest = grown(size, 1, 2, 3), grown(size, 2, 4, 5)
    rounds = 1 if state == "each has one" and size == "small" else words.whole("rounds", least, longest)
    seats = 3 if state == "none" and time == "together" and words.chance("three", 20) else 2
    most = 2 if seats == 3 or state != "none" else 4 if rounds == 1 else 3
    choice = free_choice(
        words,
        words.whole("actions", 2, most),
        together=time == "together",
        shown="at once" if time == "in turn" else "after",
    )
    item = words.item("value", words.whole("values", 2, grown(size, 2, 3, 3)), again=True)
    roles = ("first", "second", "third")[:seats]
    over = [f"{role}.{choice.name}" for role in roles]
    deals: list[Step] = []
    if state in ("first knows", "second knows"):
        role = state.split()[0]
        deals, over = [Deal(item.name, role)], [f"{role}.{item.name}", *over]  # type: ignore[arg-type]
    elif state == "both know":
        deals, over = [Deal(item.name, "all")], [f"all.{item.name}", *over]
    elif state == "each has one":
        deals, over = [Deal(item.name)], [f"first.{item.name}", f"second.{item.name}", *over]
        kind = words.one("kind of two", ("zero-sum", "free"))
    sizes = [len(item.values) if name.endswith(f".{item.name}") else len(choice.options) for name in over]
    table = PayoffTable(tuple(over), draw_table(words, sizes, seats, kind))
    stops = rounds > 1 and words.chance("stops", 30)
    structure = ("matrix", time, state, kind, f"{rounds} rounds", f"{seats} players", "may stop" if stops else "")
    items = () if state == "none" else (item,)
    return Sketch(items, (*deals, choice, table), structure, seats, rounds, False, 0.5 if stops else 1.0)


def draw_table(words: Lexicon, sizes: list[int], seats: int, kind: str, what: str = "cell") -> tuple[Any, ...]:
    """Draw the amounts of a table."""

    def cell(*place: int) -> tuple[float, ...]:
        draws = [float(words.key.at(what, *place, seat).integer(9)) for seat in range(seats)]
        if kind == "zero-sum" and seats == 2:
            return draws[0] - 4.0, 4.0 - draws[0]
        if kind == "opposed in part" and seats == 2:
            return draws[0], 8.0 - draws[0] + float(words.key.at(what, *place, "more").integer(3))
        if kind == "common in part":
            common = words.key.at(what, *place, "common").integer(6)
            return tuple(float(common + draw // 3) for draw in draws)
        return tuple(draws)

    return _nest(cell, sizes)


def _nest(cell: Callable[..., tuple[float, ...]], sizes: list[int], before: tuple[int, ...] = ()) -> tuple[Any, ...]:
    if not sizes:
        return cell(*before)
    return tuple(_nest(cell, sizes[1:], (*before, place)) for place in range(sizes[0]))


_MESSAGES = ("free", "costly", "proved", "by both", "asked", "answered")


def sketch_signals(words: Lexicon, size: Size) -> Sketch:
    """Draw a game of hidden values and messages about them, before an action that pays by the truth."""
    kind = words.one("messages", _MESSAGES)
    aims = words.one("aims", ("near", "apart", "drawn"))
    item = words.item("value", words.whole("values", 2, grown(size, 3, 3, 4)), again=True)
    many = len(item.values)
    steps: list[Step] = [Deal(item.name)] if kind == "by both" else [Deal(item.name, "first")]
    if kind == "asked":
        steps.append(free_choice(words, 2, by="second"))
    steps.append(_message(words, kind, item.values, item.name, grown(size, 3, 4, 4)))
    if kind == "answered":
        steps.append(free_choice(words, 2, by="second"))
        steps.append(free_choice(words, 2, by="first"))
    if kind == "by both":
        act = free_choice(words, 2)
        over = [f"first.{item.name}", f"first.{act.name}", f"second.{act.name}"]
        sizes = [many, 2, 2]
    else:
        act = free_choice(words, words.whole("acts", 2, 3), by="second")
        over, sizes = [f"first.{item.name}", f"second.{act.name}"], [many, len(act.options)]
    shown = words.chance("shown", 20)
    table = PayoffTable(tuple(over), _aimed_table(words, sizes, aims))
    after: list[Step] = [Show(item.name, "first")] if shown else []
    rounds = 2 if shown else 1
    structure = ("signals", kind, aims, "shown, twice" if shown else "")
    return Sketch((item,), (*steps, act, table, *after), structure, 2, rounds)


def _message(words: Lexicon, kind: str, values: tuple[str | int, ...], item: str, most: int) -> Choose:
    many = words.whole("message", 2, most)
    options = [Option(word) for word in words.actions(many)]
    if kind == "costly":
        options = [Option(option.word, float(place)) for place, option in enumerate(options)]
    if kind == "proved":
        options = [
            options[0],
            *(Option(o.word, needs=(str(values[-1 - n]),)) for n, o in enumerate(options[1:]) if n < len(values)),
        ]
    if kind == "by both":
        return Choose(words.word(), tuple(options[:2]), together=True)
    if kind == "proved":
        return Choose(words.word(), tuple(options), "first", needs_item=item)
    return Choose(words.word(), tuple(options), "first")


def _aimed_table(words: Lexicon, sizes: list[int], aims: str) -> tuple[Any, ...]:
    """Draw amounts: the second player wants the action of the state, the first one an action near it or apart."""
    if aims == "drawn":
        return draw_table(words, sizes, 2, "free")
    target = [words.key.at("target", state).integer(sizes[-1]) for state in range(sizes[0])]
    wanted = [
        (at + (words.key.at("bias", state).integer(2) if aims == "near" else 1)) % sizes[-1]
        for state, at in enumerate(target)
    ]
    gain = words.whole("gain", 3, 8)

    def cell(*place: int) -> tuple[float, ...]:
        state, action = place[0], place[-1]
        noise = [float(words.key.at("noise", *place, seat).integer(3)) for seat in (0, 1)]
        return gain * (action == wanted[state]) + noise[0], gain * (action == target[state]) + noise[1]

    return _nest(cell, sizes)

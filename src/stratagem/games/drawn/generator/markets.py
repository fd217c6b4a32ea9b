"""Drawn auctions and bargaining: bids for a thing of private or common worth, demands and offers."""

from __future__ import annotations

from dataclasses import replace

from stratagem.games.drawn.description import Step
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.generator.sketch import Size, Sketch, free_choice, grown, number_choice
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.steps.choosing import Choose, Option
from stratagem.games.drawn.steps.dealing import Deal, Show
from stratagem.games.drawn.steps.offering import Offer
from stratagem.games.drawn.steps.paying import GiftPool, Split
from stratagem.games.drawn.steps.winning import PRICES, Sale

_TIMES = ("together", "in turn, seen", "in turn, hidden")
_EXTRAS = ("none", "entry", "reserve", "one value shown", "talk")


def sketch_auction(words: Lexicon, size: Size) -> Sketch:
    """Draw an auction."""
    many = words.whole("bids", 3, grown(size, 4, 5, 6))
    values = words.whole("values", 2, grown(size, 3, 4, 5))
    item = words.item("value", values, numbers=True, again=words.chance("again", 70))
    price, worth = words.one("price", PRICES), words.one("worth", ("own", "own", "common"))
    time, extra = words.one("time", _TIMES), words.one("extra", _EXTRAS)
    top = max(item.numbers) * (2 if worth == "common" else 1)
    bids = words.rising("bid", many, 0, max(int(top), many))
    choice = number_choice(words, bids, together=time == "together", shown=_shown_when(time))
    steps: list[Step] = [Deal(item.name)]
    steps += _extra_steps(words, extra, item)
    reserve = float(bids[1]) if extra == "reserve" else 0.0
    steps += [choice, Sale(choice.name, (), item.name, worth, price, reserve)]  # type: ignore[arg-type]
    seats = (
        3
        if size != "small" and time == "together" and extra in ("none", "reserve") and words.chance("three", 35)
        else 2
    )
    if item.again is False and len(item.values) < seats:
        item = replace(item, copies=2)
    return Sketch((item,), tuple(steps), ("auction", price, worth, time, extra, f"{seats} players"), seats)


def _extra_steps(words: Lexicon, extra: str, item: DealtItem) -> list[Step]:
    """Return the steps between the deal and the bids."""
    if extra == "entry":
        stay, leave = Option(words.action(), float(words.whole("fee", 1, 2))), Option(words.action(), leaves=True)
        return [Choose(words.word(), (leave, stay))]
    if extra == "one value shown":
        return [Show(item.name, words.one("shows", ("first", "second")))]
    if extra == "talk":
        return [free_choice(words, 2, by="first")]
    return []


def _shown_when(time: str) -> str:
    return "at once" if time == "in turn, seen" else "after"


_TALKS = ("none", "talk by first", "talk by second", "talk by both")


def sketch_bargaining(words: Lexicon, size: Size) -> Sketch:
    """Draw a game about dividing a sum, or about giving to a common pool."""
    kind = words.one("kind", ("demands", "demands in turn", "one offer", "offers", "offers", "gifts"))
    valued, talk = words.chance("valued", 50), words.one("talk", _TALKS)
    item = words.item("value", words.whole("values", 2, grown(size, 2, 3, 3)), numbers=True, again=True)
    steps: list[Step] = [Deal(item.name)] if valued else []
    if valued or kind == "gifts":
        steps += _talk(words, talk)
    worth = item.name if valued else ""
    sum_, step = _sum(words, size)
    rounds = 1
    if kind.startswith("demands"):
        in_turn = kind == "demands in turn"
        parts = range(0, sum_ + 1, step)
        demand = number_choice(words, parts, together=not in_turn, shown="at once" if in_turn else "after")
        steps += [demand, Split(demand.name, float(sum_), worth, float(words.one("else", (0, 0, 1))))]
        rounds = 2 if not valued and not in_turn and words.chance("twice", 40) else 1
    elif kind == "gifts":
        gifts = words.rising("gift", words.whole("gifts", 2, 4), 0, 6)
        gift = number_choice(words, gifts, together=words.chance("together", 60), shown="at once")
        steps += [gift, GiftPool(gift.name, words.one("factor", (1.2, 1.5, 1.8)))]
        rounds = 1 if valued else 2
    else:
        steps.append(_offer(words, kind, sum_, step, worth, size))
    shrinks = any(isinstance(step, Offer) and step.shrink for step in steps)
    structure = (
        "bargaining",
        kind,
        "valued" if valued else "",
        talk if valued or kind == "gifts" else "",
        "shrinks" if shrinks else "",
        f"{rounds} rounds",
    )
    items = (item,) if valued else ()
    return Sketch(items, tuple(steps), structure, 2, rounds)


def _sum(words: Lexicon, size: Size) -> tuple[int, int]:
    """Draw a sum and the step between its parts."""
    parts = words.whole("parts", 3, grown(size, 5, 6, 8))
    step = words.whole("part", 1, 3)
    return parts * step, step


def _offer(words: Lexicon, kind: str, total: int, step: int, worth: str, size: Size) -> Offer:
    turns = 1 if kind == "one offer" else words.whole("turns", 2, grown(size, 2, 3, 3))
    shrink = float(step) if turns > 1 and words.chance("shrinks", 60) else 0.0
    if shrink * (turns - 1) >= total:
        shrink = 0.0
    other = (float(words.whole("else first", 0, 2)), float(words.whole("else second", 0, 2)))
    return Offer(total, step, turns, shrink, other, worth, *words.actions(3))


def _talk(words: Lexicon, talk: str) -> list[Step]:
    """Return a message without any cost before the talks."""
    if talk == "none":
        return []
    by = {"talk by first": "first", "talk by second": "second", "talk by both": "each"}[talk]
    return [free_choice(words, 2, by=by, together=True)]

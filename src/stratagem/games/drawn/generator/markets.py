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
from stratagem.games.drawn.steps.paying import Split
from stratagem.games.drawn.steps.winning import PRICES, Sale
from stratagem.games.drawn.wordings import Role

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


_BEFORE = ("nothing", "talk by first", "talk by second", "talk by both", "one value shown", "one value shown, talk")
_KINDS = ("demands", "demands in turn", "one offer", "offers", "offers")


def sketch_bargaining(words: Lexicon, size: Size) -> Sketch:
    """Draw a game about dividing a sum: by demands at once or in turn, or by offers."""
    kind = words.one("kind", _KINDS)
    valued = words.chance("valued", 65)
    before = words.one("before", _BEFORE) if valued else "nothing"
    item = words.item("value", words.whole("values", 2, grown(size, 2, 3, 3)), numbers=True, again=True)
    steps: list[Step] = [Deal(item.name), *_before(words, before, item)] if valued else []
    worth = item.name if valued else ""
    sum_, step = _sum(words, size)
    rounds, how = 1, ""
    if kind.startswith("demands"):
        in_turn = kind == "demands in turn"
        parts = range(0, sum_ + 1, step)
        demand = number_choice(words, parts, together=not in_turn, shown="at once" if in_turn else "after")
        steps += [demand, Split(demand.name, float(sum_), worth, float(words.one("else", (0, 0, 1))))]
        rounds = 2 if not valued and words.chance("twice", 50) else 1
    else:
        offer = _offer(words, kind, sum_, step, worth, size)
        steps.append(offer)
        fallback = "equal" if offer.else_pays[0] == offer.else_pays[1] else "unequal"
        how = f"{offer.turns} offers, {'shrinking, ' if offer.shrink else ''}{fallback} without one"
    structure = ("bargaining", kind, "valued" if valued else "", before, how, f"{rounds} rounds")
    return Sketch((item,) if valued else (), tuple(steps), structure, 2, rounds)


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


def _before(words: Lexicon, before: str, item: DealtItem) -> list[Step]:
    """Return what happens before the talks: a value is shown, or messages without any cost are sent."""
    steps: list[Step] = []
    if "shown" in before:
        steps.append(Show(item.name, words.one("shows", ("first", "second"))))
    if "talk" in before:
        by: dict[str, Role] = {"talk by first": "first", "talk by second": "second"}
        steps.append(free_choice(words, 2, by=by.get(before, "each"), together=True))
    return steps

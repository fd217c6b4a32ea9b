"""Drawn card games: hidden cards from a deck, stakes by betting or at once, open cards, exchanges and a showdown."""

from __future__ import annotations

from dataclasses import replace

from stratagem.games.drawn.description import Step
from stratagem.games.drawn.generator.lexicon import Lexicon
from stratagem.games.drawn.generator.sketch import Size, Sketch, grown
from stratagem.games.drawn.items import DealtItem
from stratagem.games.drawn.steps.betting import Bet
from stratagem.games.drawn.steps.choosing import Choose, Option
from stratagem.games.drawn.steps.claiming import CountClaim
from stratagem.games.drawn.steps.dealing import Ante, Deal, Show, Swap
from stratagem.games.drawn.steps.winning import Order, Showdown

_PLAIN: tuple[tuple[Order, ...], ...] = (("high",), ("low",))
_PAIRS: tuple[tuple[Order, ...], ...] = (("pair", "high"), ("pair", "low"))
_NEAR: tuple[tuple[Order, ...], ...] = (("near", "high"), ("near", "low"))
_STAKES = ("betting", "raising", "stakes at once", "stakes in turn")
_MIDDLES = ("nothing", "open card", "open card, betting", "exchange, betting", "exchange", "one hand shown, betting")


def sketch_cards(words: Lexicon, size: Size) -> Sketch:
    """Draw a card game."""
    large = size == "large"
    stakes, middle = words.one("stakes", _STAKES), words.one("middle", _MIDDLES)
    begins_open = words.chance("begins open", 25)
    opened = begins_open or middle.startswith("open")
    double = words.chance("two cards", 20 if size == "small" else 35)
    item = _deck(words, size, opened=opened, double=double)
    order = _order(words, item, opened=opened, double=double)
    steps: list[Step] = [Ante(float(words.whole("ante", 1, 3)))]
    if begins_open:
        steps.append(Deal(item.name, "all"))
    steps.append(Deal(item.name, "each", 2 if double else 1))
    steps += _stakes(words, stakes, "first", raises=words.whole("raises", 2, 3 if large else 2))
    steps += _middle(words, middle, item)
    steps.append(Showdown(item.name, order))
    seats = 3 if large and stakes == "betting" and words.chance("three", 40) else 2
    structure = (
        stakes,
        middle,
        "open" if begins_open else "",
        "two cards" if double else "",
        "+".join(order),
        "suits" if item.suits else "",
    )
    return Sketch((item,), tuple(steps), ("cards", *structure, f"{seats} players"), seats)


def _deck(words: Lexicon, size: Size, *, opened: bool, double: bool) -> DealtItem:
    number = words.whole("values", 3, grown(size, 4, 5, 7))
    if opened and words.chance("suits", 25):
        return DealtItem(words.word(), words.values("value", number), 1, (words.word(), words.word()))
    copies = words.whole("copies", 1, 2) if double or opened else words.one("copies", (1, 1, 2))
    if (opened or double) and number * copies < 5:
        copies = 2
    return words.item("value", number, numbers=True if double else None, copies=copies)


def _order(words: Lexicon, item: DealtItem, *, opened: bool, double: bool) -> tuple[Order, ...]:
    orders = [*_PLAIN]
    if opened:
        orders = [*_PLAIN, *_PAIRS, *(_NEAR if item.is_counted else ())]
        if item.suits:
            orders = [("suit", "high"), ("suit", "low"), ("suit", "pair", "high")]
    if double:
        orders += [("sum",), ("sum", "high"), ("high", "sum")]
    return words.one("order", orders)


def _stakes(words: Lexicon, kind: str, which: str, *, raises: int = 1) -> list[Step]:
    """Return the steps that put stakes in."""
    size = float(words.whole(f"{which} size", 1, 4))
    if kind in ("betting", "raising"):
        check, bet, fold, call, more = words.actions(5)
        if kind == "betting":
            return [Bet(size, 1, check, bet, fold, call)]
        return [Bet(size, raises, check, bet, fold, call, more)]
    many = words.whole(f"{which} options", 2, 3)
    costs = [0.0, *(size * place for place in range(1, many))]
    options = tuple(Option(words.action(), cost, leaves=not place) for place, cost in enumerate(costs))
    in_turn = kind == "stakes in turn"
    return [Choose(words.word(), options, together=not in_turn, shown="at once" if in_turn else "after", pot=True)]


def _middle(words: Lexicon, middle: str, item: DealtItem) -> list[Step]:
    """Return the steps between the first stakes and the showdown."""
    betting = _stakes(words, "betting", "second") if "betting" in middle else []
    if middle.startswith("open card"):
        return [Deal(item.name, "all"), *betting]
    if middle.startswith("exchange"):
        keep, swap = words.actions(2)
        by = words.one("exchanges", ("each", "first", "second"))
        cost = float(words.one("exchange cost", (0, 0, 1)))
        return [Swap(item.name, by, keep, swap, cost), *betting]  # type: ignore[arg-type]
    if middle.startswith("one hand"):
        return [Show(item.name, words.one("shows", ("first", "second"))), *betting]
    return []


def sketch_dice(words: Lexicon, size: Size) -> Sketch:
    """Draw a dice game: claims that are doubted, or stakes on hidden dice."""
    claims = words.chance("claims", 55)
    faces = words.whole("faces", 2, grown(size, 3, 4, 6)) if claims else words.whole("faces", 3, grown(size, 5, 6, 6))
    item = words.item("face", faces, numbers=None if claims else True, again=True)
    sketch = _claims(words, size, item) if claims else _stakes_on_dice(words, size, item)
    return replace(sketch, structure=("dice", *sketch.structure))


def _claims(words: Lexicon, size: Size, item: DealtItem) -> Sketch:
    many = 2 if size != "small" and words.chance("two dice", 30) else 1
    opened, rolls_again = words.chance("open die", 35), words.chance("again", 30)
    wild = str(words.one("which wild", item.values)) if words.chance("wild", 40) else ""
    steps: list[Step] = [Deal(item.name, "each", many)]
    if opened:
        steps.append(Deal(item.name, "all"))
    staked = words.chance("stakes", 35)
    if staked:
        steps = [Ante(1.0), *steps]
    if rolls_again:
        keep, swap = words.actions(2)
        by = words.one("rolls again", ("each", "first", "second"))
        steps.append(Swap(item.name, by, keep, swap))  # type: ignore[arg-type]
    claim, doubt = words.word(), words.word()
    steps.append(CountClaim(item.name, wild, float(words.whole("stake", 1, 3)), claim, doubt))
    if staked:
        orders = [*_PLAIN, ("sum",)] if item.is_counted else [*_PLAIN]
        steps.append(Showdown(item.name, words.one("order", orders)))
    traits = (
        "claims",
        "open" if opened else "",
        "again" if rolls_again else "",
        "wild" if wild else "",
        "stakes" if staked else "",
        f"{many} dice",
    )
    return Sketch((item,), tuple(steps), traits)


def _stakes_on_dice(words: Lexicon, size: Size, item: DealtItem) -> Sketch:
    many = words.whole("dice", 1, 2) if size != "small" else 1
    kind = words.one("stakes", _STAKES)
    middle = words.one("middle", ("nothing", "open card", "open card, betting", "exchange, betting", "exchange"))
    begins_open = words.chance("begins open", 25)
    opened = begins_open or middle.startswith("open")
    orders: list[tuple[Order, ...]] = [*_PLAIN, *((*_PAIRS, *_NEAR) if opened else ())]
    if many == 2:
        orders.append(("sum",))
    order = words.one("order", orders)
    steps: list[Step] = [Ante(float(words.whole("ante", 1, 2))), Deal(item.name, "each", many)]
    if begins_open:
        steps.append(Deal(item.name, "all"))
    steps += [*_stakes(words, kind, "first", raises=2), *_middle(words, middle, item), Showdown(item.name, order)]
    return Sketch((item,), tuple(steps), (kind, middle, "open" if begins_open else "", "+".join(order), f"{many} dice"))

"""Games that break one rule each: `BROKEN` names the check that must find it; `made` makes the game."""

import random
from dataclasses import dataclass

import pytest
from cards import SAID, CardFacts, Cards, CardsState, declares

from stratagem.base.errors import IllegalAction
from stratagem.games import Flat, Key, ParsedReply, State, View
from stratagem.games.abilities import TimedState
from stratagem.games.enumeration import starts
from stratagem.games.positions import StatePositions


def broken(check, **changes):
    """A class of broken states or games; `check` is what must find it, and nothing else may."""
    return pytest.param(check, changes, id=f"{check}: {changes.pop('how')}")


def state(**methods):
    return type("BrokenState", (CardsState,), {"__slots__": (), **methods})


# --- states


def begin_by_the_clock(self):
    CardsState.begin(self)
    self.cards = (random.SystemRandom().randrange(10**6), 0)


def fork_of_itself(self, chance=None):
    return self


def fork_with_its_own_chance(self, chance=None):
    copy = CardsState.fork(self, chance)
    copy.chance = copy.chance.at("other")
    return copy


def fork_deaf_to_fresh_chance(self, chance=None):
    copy = CardsState.fork(self, chance)
    copy.chance = Key(random.SystemRandom().getrandbits(60)) if chance else self.chance
    return copy


def fork_without_fresh_chance(self, chance=None):
    return CardsState.fork(self)


def deal_the_same(self):
    self.cards = (2, 2)


def deal_by_a_generator(self):
    generator = random.Random(self.chance.value + self.round)
    self.cards = (generator.randrange(4), generator.randrange(4))


def deal_by_a_negative_weight(self):
    self.cards = tuple(self.chance.at("card", self.round, seat).choose((-0.5, 1, 1, 1, 1)) for seat in (0, 1))


def deal_unseen(self):
    CardsState.deal(self)
    self.cards = (2, 2)


def fork_that_redraws(self, chance=None):
    copy = CardsState.fork(self, chance)
    if chance is not None:
        copy.deal()
    return copy


def dump_without_the_past(self):
    return {**CardsState.dump(self), "past": []}


def dump_that_is_no_json(self):
    return {**CardsState.dump(self), "note": {1, 2}}


def play_anything(self, actions):
    known = {seat: action if action in (*SAID, None) else "PASS" for seat, action in actions.items()}
    return CardsState.play(self, known if set(actions) == set(self.to_act) else actions)


def play_with_strangers(self, actions):
    return CardsState.play(self, {seat: actions[seat] for seat in self.to_act} if self.to_act else actions)


def play_and_remember(self, actions):
    try:
        return CardsState.play(self, actions)
    except IllegalAction:
        self.past = (*self.past, ("?", "?"))
        raise


def refuse_with_a_crash(self, actions):
    return ValueError("no")


def refuse_a_pass_after_a_raise(self, actions):
    if actions and self.past and self.past[-1] == ("RAISE", "RAISE") and actions.get(0) == "PASS":
        raise self.refuse(actions)
    return CardsState.play(self, actions)


def play_silence_as_pass(self, actions):
    return CardsState.play(self, {seat: "PASS" if action is None else action for seat, action in actions.items()})


def crash_on_silence(self, actions):
    if set(actions) == set(self.to_act) and None in actions.values():
        raise KeyError("None")
    return CardsState.play(self, actions)


def pay_twice_for_kings(self, said):
    gain, loss = CardsState.pay(self, said)
    return (gain, loss - 1.0) if self.cards == (3, 1) else (gain, loss)


def pay_beyond_all_bounds(self, said):
    gain, _ = CardsState.pay(self, said)
    return (7.0 * gain, -7.0 * gain)


def pay_seat_0_for_ties(self, said):
    gain, loss = CardsState.pay(self, said)
    return (gain, loss) if gain else (1.0, -1.0)


def pay_nothing_that_counts(self, said):
    return (float("nan"), 0.0)


def redraw_ones_own(self, seat, chance):
    copy = self.fork(chance)
    copy.cards = tuple(chance.at("card", other).integer(4) for other in (0, 1))
    return copy


def redraw_nothing(self, seat, chance):
    return self.fork(chance)


def redraw_without_chance(self, seat, chance):
    copy = self.fork(chance)
    copy.cards = (self.cards[0], 3) if seat == 0 else (3, self.cards[1])
    return copy


def redraw_low_cards_only(self, seat, chance):
    copy = self.fork(chance)
    card = chance.at("card").integer(3)
    copy.cards = (self.cards[0], card) if seat == 0 else (card, self.cards[1])
    return copy


def view_of_the_table(self, seat):
    view = CardsState.view(self, seat)
    return View(self.game, seat, Peeking(self, *view.facts))


class Peeking(CardFacts):
    """Facts that go on looking at the table."""

    def __new__(cls, table, *facts):
        self = super().__new__(cls, *facts)
        self.table = table
        return self


# --- games


def tell_the_card_by_a_slip(self, facts):
    return f"Round {facts.round}: {'raised' if facts.card % 2 else 'raiseed'}."


def tell_the_others_card(self, facts):
    return f"{Cards.situation(self, facts)} They hold {facts.other}."


def view_with_the_others_card(self, seat):
    facts = CardsState.view(self, seat).facts
    return View(self.game, seat, Leaking(self.cards[1 - seat], *facts))


class Leaking(CardFacts):
    def __new__(cls, other, *facts):
        self = super().__new__(cls, *facts)
        self.other = other
        return self


class Deaf(Flat):
    def parse(self, text):
        return ParsedReply(None, "silent")


def positions(**methods):
    """Positions of the game's states, of which one answer is another."""
    kind = type("BrokenPositions", (StatePositions,), methods)
    return lambda self: kind(self, None)


def children_that_pay_twice(self, place, moves):
    found = StatePositions.children(self, place, moves)
    return [(*one[:3], tuple(2 * paid for paid in one[3]), one[4]) for one in found]


def start_of_the_first_likeliest(self):
    at, *rest = StatePositions.start(self)
    (chance, first), (other, second), *others = at
    return [(chance * 1.5, first), (other * 0.5, second), *others], *rest


def options_backwards(self, at, seat):
    options = StatePositions.options(self, at, seat)
    return options._replace(actions=options.actions[::-1])


BROKEN = [
    broken("spec", how="no summary", game={"spec": declares(summary="")}),
    broken("spec", how="a name with a space", game={"spec": declares(name="high card")}),
    broken("ends", how="more rounds than declared", game={"spec": declares(rounds=2)}),
    broken("ends", how="no end", state={"end": lambda self: None}),
    broken("ends", how="over while somebody is to act", state={"end": lambda self: setattr(self, "over", True)}),
    broken("ends", how="undeclared simultaneous moves", game={"spec": declares(simultaneous=False)}),
    broken("results", how="payoffs that are no numbers", state={"pay": pay_nothing_that_counts}),
    broken("results", how="a payoff for one seat only", state={"pay": lambda self, said: (1.0,)}),
    broken("spec", how="a game time that nobody asks for", state={"clock": lambda self, turn: turn}),
    broken("spec", how="a silence that nobody asks for", game={"silence": lambda self, facts: None}),
    broken("results", how="a position's worth for one seat only", state={"standing": lambda self: (1.0,)}),
    broken("seed", how="a start by the clock", state={"begin": begin_by_the_clock}),
    broken("chance", how="undeclared draws", game={"spec": declares(chance=False, symmetric=False)}),
    broken("forks", how="shares its state", state={"fork": fork_of_itself}),
    broken("forks", how="draws of its own", state={"fork": fork_with_its_own_chance}),
    broken("forks", how="fresh chance that is not the given one", state={"fork": fork_deaf_to_fresh_chance}),
    broken("forks", how="fresh chance that redraws the present", state={"fork": fork_that_redraws}),
    broken("dump", how="a field is missing", state={"dump": dump_without_the_past}),
    broken("dump", how="no JSON", state={"dump": dump_that_is_no_json}),
    broken(
        "views",
        how="facts that look at the table",
        state={"view": view_of_the_table},
        game={"situation": lambda self, facts: f"{len(facts.table.past)} rounds are over, your card is {facts.card}."},
    ),
    broken("choices", how="deaf to its own actions", game={"choices": lambda self, facts: Deaf(SAID)}),
    broken("legal", how="a listed action is refused", state={"play": refuse_a_pass_after_a_raise}),
    broken("illegal", how="anything goes", state={"play": play_anything}),
    broken("illegal", how="strangers may play", state={"play": play_with_strangers}),
    broken("illegal", how="changed by what it refuses", state={"play": play_and_remember}),
    broken("illegal", how="refused with a crash", state={"refuse": refuse_with_a_crash}),
    broken("default", how="not on the list", game={"default_action": lambda self, facts: "FOLD"}),
    broken("null", how="another default action", state={"play": play_silence_as_pass}),
    broken("null", how="a crash", state={"play": crash_on_silence}),
    broken("null", how="no forfeit", game={"spec": declares(on_illegal="forfeit")}),
    broken("utility", how="not zero-sum", state={"pay": pay_twice_for_kings}, game={"spec": declares(symmetric=False)}),
    broken("utility", how="not common", game={"spec": declares(utility="common")}),
    broken("bounds", how="beyond them", state={"pay": pay_beyond_all_bounds}),
    broken("signals", how="undeclared", game={"spec": declares(signals=())}),
    broken("signals", how="declared and not reported", game={"spec": declares(signals=("bold", "shy"))}),
    broken("symmetry", how="ties go to seat 0", state={"pay": pay_seat_0_for_ties}),
    broken("hidden", how="a redraw of what the seat sees", state={"resample": redraw_ones_own}),
    broken("hidden", how="a redraw of nothing", state={"resample": redraw_nothing}),
    broken("hidden", how="a redraw that draws nothing", state={"resample": redraw_without_chance}),
    broken("hidden", how="a redraw of some cards only", state={"resample": redraw_low_cards_only}),
    broken(
        "hidden",
        how="the other's card in the text",
        state={"view": view_with_the_others_card},
        game={"situation": tell_the_others_card},
    ),
    broken(
        "hidden",
        how="the other's card in the text, and nothing to redraw",
        state={"view": view_with_the_others_card, "resample": State.resample},
        game={"situation": tell_the_others_card},
    ),
    broken("varies", how="constant deals", state={"deal": deal_the_same, "resample": State.resample}),
    broken("varies", how="a generator", state={"deal": deal_by_a_generator, "resample": State.resample}),
    broken("varies", how="draws without effect", state={"deal": deal_unseen, "resample": State.resample}),
    broken("varies", how="forks with the old chance", state={"fork": fork_without_fresh_chance}),
    broken("outcomes", how="a negative weight", state={"deal": deal_by_a_negative_weight}),
    broken("state-keys", how="too coarse", game={"state_key": lambda self, facts: str(facts.card // 2)}),
    broken("rounds", how="a history that the seats see", game={"spec": declares(independent_rounds=1)}),
    broken("texts", how="an empty text", game={"situation": lambda self, facts: "\n" if facts.round else "Begin."}),
    broken("disguise", how="an action within a word", game={"rules": lambda self, seat: "RAISE or PASS; praise wins."}),
    broken("disguise", how="situations that read alike", game={"situation": tell_the_card_by_a_slip}),
    broken("texts", how="control characters", game={"rules": lambda self, seat: "High card\x1b[1m wins."}),
    broken("positions", how="a key of their own", game={"positions": positions(key=lambda self, at, seat: "one")}),
    broken("positions", how="a record that play reads", state={"record_fields": ("cards",)}),
    broken("positions", how="a record that is no tuple a seat", state={"record_fields": ("past",)}),
    broken("positions", how="payoffs twice", game={"positions": positions(children=children_that_pay_twice)}),
    broken("positions", how="a likelier deal", game={"positions": positions(start=start_of_the_first_likeliest)}),
    broken("positions", how="actions backwards", game={"positions": positions(options=options_backwards)}),
    broken(
        "positions",
        how="the other state",
        game={"positions": positions(state=lambda self, at: next(starts(self.game))[1])},
    ),
]


def made(state=None, game=None):
    abilities = (TimedState,) if "standing" in (state or {}) else ()
    states = type("BrokenState", (CardsState, *abilities), {"__slots__": (), **(state or {})})
    return dataclass(frozen=True)(type("BrokenCards", (Cards,), {"state": states, **(game or {})}))()

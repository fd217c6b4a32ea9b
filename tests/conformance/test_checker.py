"""The checker checked: a sound game passes, and each way to break one rule is found, named and shown."""

import json
import random
from dataclasses import dataclass, field, replace

import pytest
from cards import SAID, Cards, CardsState, Seen, declares

from stratagem.errors import IllegalAction
from stratagem.games import Flat, Key, Reply, Sheet, Slot, State, View
from stratagem.games.conformance import RULES, Transcript, verify
from stratagem.games.conformance.acting import unsound
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.matrix import MatrixGame
from stratagem.games.spiel import SpielGame, spiel


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


class Peeking(Seen):
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


class Leaking(Seen):
    def __new__(cls, other, *facts):
        self = super().__new__(cls, *facts)
        self.other = other
        return self


class Deaf(Flat):
    def parse(self, text):
        return Reply(None, "silent")


BROKEN = [
    broken("spec", how="no summary", game={"spec": declares(summary="")}),
    broken("spec", how="a name with a space", game={"spec": declares(name="high card")}),
    broken("ends", how="more rounds than declared", game={"spec": declares(rounds=2)}),
    broken("ends", how="no end", state={"end": lambda self: None}),
    broken("ends", how="over while somebody is to act", state={"end": lambda self: setattr(self, "over", True)}),
    broken("ends", how="undeclared simultaneous moves", game={"spec": declares(simultaneous=False)}),
    broken("results", how="payoffs that are no numbers", state={"pay": pay_nothing_that_counts}),
    broken("results", how="a payoff for one seat only", state={"pay": lambda self, said: (1.0,)}),
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
    broken("state-keys", how="too coarse", game={"state_key": lambda self, facts: str(facts.card // 2)}),
    broken("texts", how="an empty text", game={"situation": lambda self, facts: "\n" if facts.round else "Begin."}),
    broken("disguise", how="an action within a word", game={"rules": lambda self, seat: "RAISE or PASS; praise wins."}),
    broken("disguise", how="situations that read alike", game={"situation": tell_the_card_by_a_slip}),
    broken("texts", how="control characters", game={"rules": lambda self, seat: "High card\x1b[1m wins."}),
]


def made(state=None, game=None):
    states = type("BrokenState", (CardsState,), {"__slots__": (), **(state or {})})
    return dataclass(frozen=True)(type("BrokenCards", (Cards,), {"state": states, **(game or {})}))()


def test_a_sound_game_conforms():
    report = verify(Cards())
    assert report.ok
    assert {check.name for check in report.checks if check.outcome == "skipped"} == {"chance", "twin"}
    assert "information sets met again" in report["hidden"].detail
    assert "redrawn states" in report["hidden"].detail


def test_an_option_within_a_name_may_be_a_path():
    """`spiel:efg_game(filename=/a/b.efg)` is a sound game; the path is the user's."""
    report = verify(made(game={"spec": declares(name="cards(filename=/a folder/b.efg)")}), episodes=4)
    assert "spec" not in report.failed


@pytest.mark.parametrize(("check", "changes"), BROKEN)
def test_what_is_broken_is_found_and_nothing_else(check, changes):
    report = verify(made(**changes), episodes=12)
    assert report.failed == (check,), str(report)
    assert not report.ok
    assert report[check].transcripts


def test_every_check_can_fail():
    """Each rule stands in a broken game above, or in a test of its own below."""
    assert {rule.name for rule in RULES} == {param.values[0] for param in BROKEN} | {"twin"}


def test_what_depends_on_a_failed_check_is_skipped_with_the_reason():
    report = verify(made(state={"fork": fork_of_itself}))
    assert report["illegal"].outcome == "skipped"
    assert report["illegal"].detail == "needs forks"
    assert report["bounds"].detail == "needs null"


def test_the_transcript_is_the_shortest_and_can_be_replayed():
    game = made(state={"play": refuse_a_pass_after_a_raise})
    (transcript,) = verify(game)["legal"].transcripts
    assert len(transcript.actions) == 1
    table = transcript.replay(game)
    assert table.past == (("RAISE", "RAISE"),)
    with pytest.raises(IllegalAction):
        table.play({0: "PASS", 1: "PASS"})


def test_the_smallest_episode_has_the_first_key_and_first_actions():
    def pay_too_much_for_a_late_pass(self, said):
        return (99.0, -99.0) if self.round == 1 and said[1] == "PASS" else CardsState.pay(self, said)

    game = made(state={"pay": pay_too_much_for_a_late_pass}, game={"spec": declares(symmetric=False)})
    found, shrunk = (verify(game, tries=tries)["bounds"].transcripts[0] for tries in (0, 60))
    first = {0: "RAISE", 1: "RAISE"}
    assert shrunk.actions == (first, {0: "RAISE", 1: "PASS"}, first) != found.actions
    assert shrunk.key == Key(0).at("episode", 0)


def test_a_crash_is_shown_where_it_happened():
    def crash_in_round_2(self, facts):
        return {0: "Begin.", 1: "Go on."}[facts.round]

    check = verify(made(game={"situation": crash_in_round_2}), episodes=3)["texts"]
    line = crash_in_round_2.__code__.co_firstlineno + 1
    assert check.detail == f"raised KeyError in line {line} of test_checker.py: 2"
    assert len(check.transcripts[0].actions) == 2


def test_a_report_prints_as_lines_and_as_json():
    report = verify(made(game={"spec": declares(rounds=2)}), episodes=4)
    lines = str(report).split("\n")
    assert lines[0] == "cards breaks ends"
    assert any(line.startswith("failed  ends: more rounds are played than the 2 declared") for line in lines)
    data = json.loads(json.dumps(report.to_json()))
    assert data["ok"] is False
    failed = next(check for check in data["checks"] if check["name"] == "ends")
    assert failed["outcome"] == "failed"
    assert len(failed["transcripts"][0]["actions"]) == 3
    assert verify(Cards(), episodes=2).to_json()["ok"] is True


def test_a_report_is_the_same_for_the_same_key():
    game = made(state={"pay": pay_beyond_all_bounds})
    assert str(verify(game, episodes=5, key=Key(5))) == str(verify(game, episodes=5, key=Key(5)))
    assert (
        verify(game, episodes=5, key=Key(5))["bounds"].transcripts
        != verify(game, episodes=5, key=Key(6))["bounds"].transcripts
    )


def test_the_player_decides_what_is_seen():
    """A fault behind one line of play is found by the player that plays it."""

    def trap(self, said):
        raised = all(moves[0] == "RAISE" for moves in self.past) and said[0] == "RAISE" and self.round == 2
        return (99.0, -99.0) if raised else CardsState.pay(self, said)

    game = made(state={"pay": trap}, game={"spec": declares(symmetric=False)})
    assert "bounds" in verify(game, episodes=2, player=lambda view, key: "RAISE").failed
    assert verify(game, episodes=2, player=lambda view, key: "PASS")["utility"].outcome == "passed"


@dataclass(frozen=True)
class OddTable(MatrixGame):
    """A matrix game that calls itself symmetric."""

    odd: bool = field(default=True)

    @property
    def spec(self):
        return replace(MatrixGame(payoffs=self.payoffs, rounds=2).spec, symmetric=True)


def test_without_chance_symmetry_is_checked_move_by_move():
    report = verify(OddTable(payoffs=[[(3, 3), (0, 5)], [(4, 0), (1, 1)]], rounds=2), episodes=10)
    assert report.failed == ("symmetry",)
    assert "with seats 0 and 1 exchanged" in report["symmetry"].detail


def test_with_little_chance_symmetry_is_checked_by_enumeration():
    def two_rounds(self):
        CardsState.deal(self)
        if self.round == 1:
            self.end()

    states = {"deal": two_rounds}
    fair, unfair = made(state=states), made(state={**states, "pay": pay_seat_0_for_ties})
    assert verify(fair, episodes=3)["symmetry"].detail == "expectations by enumeration"
    assert verify(unfair, episodes=3).failed == ("symmetry",)


class CheapKuhnState(KuhnState):
    """Kuhn poker in which a called bet moves no chips."""

    __slots__ = ()

    def _payoffs(self):
        gain, _ = super()._payoffs()
        gain = gain / abs(gain)
        return gain, -gain


@dataclass(frozen=True, kw_only=True)
class CheapKuhn(Kuhn):
    state = CheapKuhnState


def test_wrong_chips_in_kuhn_are_found_against_openspiel():
    report = verify(CheapKuhn(), episodes=10)
    assert report.failed == ("twin",)
    assert "in OpenSpiel" in report["twin"].detail
    assert "all 54 positions" in verify(Kuhn(), episodes=10)["twin"].detail


@dataclass(frozen=True, kw_only=True)
class FoldOnly(Kuhn):
    """Kuhn poker in which nobody calls."""

    def choices(self, facts):
        return Flat(("FOLD",)) if facts.facing_bet else super().choices(facts)


class BackwardsState(KuhnState):
    """Kuhn poker in which the second seat speaks first."""

    __slots__ = ()

    def begin(self):
        super().begin()
        self.to_act = (1,)


@dataclass(frozen=True, kw_only=True)
class Backwards(Kuhn):
    state = BackwardsState


@pytest.mark.parametrize(
    ("game", "says"),
    [(FoldOnly(hands=1), "legal here are ['FOLD']"), (Backwards(hands=1), "seat 1 is to move here and 0 in OpenSpiel")],
    ids=["missing actions", "another mover"],
)
def test_other_moves_than_openspiels_are_found(game, says):
    report = verify(game, episodes=10)
    assert report.failed == ("twin",), str(report)
    assert says in report["twin"].detail


@dataclass(frozen=True, kw_only=True)
class Observed(SpielGame):
    """A game that takes what its seats observe for all that there is to know."""

    @property
    def spec(self):
        return replace(SpielGame.spec.func(self), markov=True)


def test_a_sealed_bid_that_no_observation_shows_is_missed():
    """OpenSpiel's observations in its sealed-bid auction hide the bid from its own bidder."""
    report = verify(Observed(text="first_sealed_auction"), episodes=40)
    assert report.failed == ("state-keys",)
    assert verify(spiel("first_sealed_auction"), episodes=40)["state-keys"].outcome == "skipped"


@pytest.mark.parametrize(
    ("offered", "says"),
    [
        (Flat(("stay", "go")), ""),
        (Flat(("stay", "Stay", "STAY")), ""),
        (Flat(("go\nhome", "stay")), "read their own 'go\\nhome'"),
        (Sheet([Slot("A", ("x", "y")), Slot("B", ("x", "z"))], fill=1), ""),
    ],
)
def test_choices_that_cannot_be_read_back_are_unsound(offered, says):
    assert unsound(offered, Key(0)).startswith(says)
    assert bool(says) == bool(unsound(offered, Key(0)))


class Doubled(Flat):
    def __iter__(self):
        return iter(self.actions * 2)


class Miscounted(Flat):
    @property
    def count(self):
        return 99


class Shifted(Flat):
    @property
    def first(self):
        return self.actions[-1]


class Stray(Flat):
    def sample(self, chance):
        return "elsewhere"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (Doubled, "list an action twice"),
        (Miscounted, "list 2 actions and count 99"),
        (Shifted, "begin with 'stay'"),
        (Stray, "do not contain their own 'elsewhere'"),
    ],
)
def test_choices_that_contradict_themselves_are_unsound(kind, says):
    assert unsound(kind(("stay", "go")), Key(0)).startswith(says)


def test_a_transcript_reads_as_a_line():
    transcript = Transcript(Key(1)).then({0: "PASS", 1: None})
    assert str(transcript) == "Key(0x0000000000000001) after 0: 'PASS', 1: None"
    assert str(Transcript(Key(1))).endswith("after no move")

"""The checker checked: a sound game passes, and each way to break one rule is found, named and shown."""

import json
from dataclasses import dataclass, field, replace

import pytest
from broken_games import (
    BROKEN,
    deal_by_a_generator,
    fork_of_itself,
    made,
    pay_beyond_all_bounds,
    pay_seat_0_for_ties,
    refuse_a_pass_after_a_raise,
)
from cards import Cards, CardsState, declares

from stratagem.base.errors import IllegalAction
from stratagem.games import Flat, Key, Sheet, Slot, make_game
from stratagem.games.conformance import RULES, PlayedPath, outcomes, symmetry, verify
from stratagem.games.conformance.acting import unsound
from stratagem.games.conformance.report import describe_error
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.matrix import MatrixGame
from stratagem.games.spiel import SpielGame, spiel


def check_alone(game, name, **options):
    """The outcome of one rule, without those that it needs."""
    return verify(game, rules=[rule for rule in RULES if rule.name == name], **options)[name]


def test_a_sound_game_conforms():
    report = verify(Cards())
    assert report.ok
    assert {check.name for check in report.checks if check.outcome == "skipped"} == {
        "chance",
        "rounds",
        "positions",
        "twin",
    }
    assert "information sets met again" in report["hidden"].detail
    assert "redrawn states" in report["hidden"].detail


def test_an_option_within_a_name_may_be_a_path():
    """`spiel:efg_game(filename=/a/b.efg)` is a sound game; the path is the user's."""
    report = verify(made(game={"spec": declares(name="cards(filename=/a folder/b.efg)")}), episodes=4)
    assert "spec" not in report.failed


@pytest.mark.parametrize(("check", "changes"), BROKEN)
def test_what_is_broken_is_found_and_nothing_else(check, changes, monkeypatch):
    """Half of a check is the sampling of symmetry, which needs its full power only where that is broken."""
    if check != "symmetry":
        monkeypatch.setattr(symmetry, "SAMPLED", 40)
    report = verify(made(**changes), episodes=9 if check == "utility" else 6)
    assert report.failed == (check,), str(report)
    assert not report.ok
    assert report[check].transcripts


def test_an_error_in_a_game_of_openspiel_is_described():
    assert describe_error(ValueError("no such move"), spiel("nim")) == "raised ValueError: no such move"


def test_every_check_can_fail():
    """Each rule stands in a broken game above, or in a test of its own below."""
    assert {rule.name for rule in RULES} == {param.values[0] for param in BROKEN} | {"twin"}


def deal_by_weights(self):
    self.cards = tuple(self.chance.at("card", self.round, seat).choose((1, 2, 3, 4)) for seat in (0, 1))


def resample_by_weights(self, seat, chance):
    copy = self.fork(chance)
    card = chance.at("card").choose((1, 2, 3, 4))
    copy.cards = (self.cards[0], card) if seat == 0 else (card, self.cards[1])
    return copy


WEIGHED = {"deal": deal_by_weights, "resample": resample_by_weights}


def test_weights_need_not_sum_to_one():
    """They are divided by their sum wherever chance is enumerated."""
    report = verify(made(state=WEIGHED), episodes=12)
    assert report.ok, str(report)
    assert report["outcomes"].detail.startswith("12 episodes, ")
    assert report["outcomes"].detail.endswith(" starts and moves with several outcomes")


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([0.5, 0.25, 0.5], "the 3 outcomes of the start of the game have probabilities of sum 1.25"),
        ([1.5, -0.5], "the 2 outcomes of the start of the game have probabilities of sum 1"),
        ([], "the 0 outcomes of the start of the game have probabilities of sum 0"),
    ],
)
def test_chances_that_do_not_sum_to_one_are_found(monkeypatch, found, says):
    """As they would be without the division by the sum of the weights."""
    monkeypatch.setattr(outcomes, "starts", lambda game: ((p, game.start(Key(0))) for p in found))
    check = check_alone(Cards(), "outcomes")
    assert (check.outcome, check.detail) == ("failed", says)


def test_chance_that_cannot_be_enumerated_is_skipped_with_the_reason():
    check = check_alone(made(state={"deal": deal_by_a_generator}), "outcomes")
    assert (check.outcome, check.detail[:29]) == ("skipped", "Chance cannot be enumerated w")
    assert check_alone(make_game("ipd(rounds=3)"), "outcomes").detail == (
        "in 30 episodes no draw of 2 to 500 outcomes was met"
    )


def test_what_depends_on_a_failed_check_is_skipped_with_the_reason():
    report = verify(made(state={"fork": fork_of_itself}))
    assert report["illegal"].outcome == "skipped"
    assert report["illegal"].detail == "needs forks"
    assert report["bounds"].detail == "needs null"


def test_the_transcript_is_the_shortest_and_can_be_replayed():
    game = made(state={"play": refuse_a_pass_after_a_raise})
    (transcript,) = check_alone(game, "legal").transcripts
    assert len(transcript.actions) == 1
    table = transcript.replay(game)
    assert table.past == (("RAISE", "RAISE"),)
    with pytest.raises(IllegalAction):
        table.play({0: "PASS", 1: "PASS"})


def test_the_smallest_episode_has_the_first_key_and_first_actions():
    def pay_too_much_for_a_late_pass(self, said):
        return (99.0, -99.0) if self.round == 1 and said[1] == "PASS" else CardsState.pay(self, said)

    game = made(state={"pay": pay_too_much_for_a_late_pass}, game={"spec": declares(symmetric=False)})
    found, shrunk = (check_alone(game, "bounds", tries=tries).transcripts[0] for tries in (0, 60))
    first = {0: "RAISE", 1: "RAISE"}
    assert shrunk.actions == (first, {0: "RAISE", 1: "PASS"}, first) != found.actions
    assert shrunk.key == Key(0).at("episode", 0)


def test_a_crash_is_shown_where_it_happened():
    def crash_in_round_2(self, facts):
        return {0: "Begin.", 1: "Go on."}[facts.round]

    check = check_alone(made(game={"situation": crash_in_round_2}), "texts", episodes=3)
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
    assert verify(Cards(), episodes=1).to_json()["ok"] is True


def test_a_report_is_the_same_for_the_same_key():
    game = made(state={"pay": pay_beyond_all_bounds})
    report = verify(game, episodes=5, key=Key(5))
    assert str(report) == str(verify(game, episodes=5, key=Key(5)))
    assert report["bounds"].transcripts != check_alone(game, "bounds", episodes=5, key=Key(6)).transcripts


def test_the_player_decides_what_is_seen():
    """A fault behind one line of play is found by the player that plays it."""

    def trap(self, said):
        raised = all(moves[0] == "RAISE" for moves in self.past) and said[0] == "RAISE" and self.round == 2
        return (99.0, -99.0) if raised else CardsState.pay(self, said)

    game = made(state={"pay": trap}, game={"spec": declares(symmetric=False)})
    assert "bounds" in verify(game, episodes=2, player=lambda view, key: "RAISE").failed
    assert check_alone(game, "utility", episodes=2, player=lambda view, key: "PASS").outcome == "passed"


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
    assert check_alone(fair, "symmetry").detail == "expectations by enumeration"
    assert verify(unfair, episodes=3).failed == ("symmetry",)


class CheapKuhnState(KuhnState):
    """Kuhn poker in which a called bet moves no chips."""

    __slots__ = ()

    def payoffs(self):
        gain, _ = super().payoffs()
        gain = gain / abs(gain)
        return gain, -gain


@dataclass(frozen=True, kw_only=True)
class CheapKuhn(Kuhn):
    state = CheapKuhnState


def test_wrong_chips_in_kuhn_are_found_against_openspiel():
    report = verify(CheapKuhn(), episodes=10)
    assert report.failed == ("twin",)
    assert "in OpenSpiel" in report["twin"].detail
    assert "all 54 positions" in check_alone(Kuhn(), "twin", episodes=10).detail


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
    assert check_alone(spiel("first_sealed_auction"), "state-keys", episodes=40).outcome == "skipped"


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
    transcript = PlayedPath(Key(1)).then({0: "PASS", 1: None})
    assert str(transcript) == "Key(0x0000000000000001) after 0: 'PASS', 1: None"
    assert str(PlayedPath(Key(1))).endswith("after no move")


class LuckyState(KuhnState):
    """A hand whose last move draws who gets one chip more."""

    __slots__ = ()

    def payoffs(self):
        won = super().payoffs()
        luck = 1.0 if self.chance.at("luck", self.round).integer(2) else -1.0
        return won[0] + luck, won[1] - luck


class CountingState(KuhnState):
    """Hands of which the second is for double stakes."""

    __slots__ = ()

    def payoffs(self):
        return tuple(payoff * (1 + self.round % 2) for payoff in super().payoffs())


class NamedState(KuhnState):
    """Hands whose cards are told by their number, so that the last hand looks like no other."""

    __slots__ = ()

    def view(self, seat):
        view = super().view(seat)
        view.facts = view.facts._replace(card=view.facts.card if self.round < 2 else f"{view.facts.card}!")
        return view


@pytest.mark.parametrize(
    ("states", "said"),
    [(LuckyState, "depends on what is drawn in it"), (CountingState, "another game"), (NamedState, "in round 3 seat")],
)
def test_rounds_that_are_not_independent_are_found(states, said):
    @dataclass(frozen=True, kw_only=True)
    class Other(Kuhn):
        state = states

        def twin(self):
            return None

    check = check_alone(Other(hands=3), "rounds", episodes=12)
    assert check.outcome == "failed"
    assert said in check.detail
    assert check_alone(Kuhn(hands=3), "rounds", episodes=12).detail == "12 episodes, each round as one of 2 kinds"

"""Ledger of recorded talk: truth, promises, and the kinds of breaches."""

from dataclasses import dataclass, replace

import pytest

from stratagem.api.matches import play
from stratagem.base.errors import BadParameter
from stratagem.games import make_game
from stratagem.games.public_goods import PublicGoods
from stratagem.games.talk import MOVE, SILENT, Language, Plays, language_of
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.talk.definitions import by_chance
from stratagem.measure.talk.ledger import ledger
from stratagem.measure.talk.recorded_games import RecordedGames
from stratagem.measure.talk.source import WeighedItem
from stratagem.players.base import Move, Traits

KUHN = "talk(kuhn(hands=1), before=round, intents=[state])"
IPD = "talk(ipd(rounds=4))"


def books(game, *players, episodes=1, seed=0):
    return [ledger(episode) for episode in play(game, list(players), episodes=episodes, seed=seed).episodes]


def breaches(book, seat):
    return [promise.breach for promise in book.promises if promise.said.seat == seat]


@pytest.mark.parametrize(("speaker", "truth"), [("honest", True), ("liar", False), ("inverter", False)])
def test_a_statement_has_the_truth_of_its_speakers_card(speaker, truth):
    for book in books(KUHN, f"{speaker}(NashApprox)", "NashApprox", episodes=10):
        (said,) = [said for said in book.messages if said.text]
        assert said.truth is truth
        assert not book.promises


def test_silence_is_a_message_without_a_sentence():
    (book,) = books(KUHN, "NashApprox", "NashApprox")
    assert [(said.text, said.intent, said.truth) for said in book.messages] == [("", None, None)] * 2


def test_a_kept_promise_names_the_decision_that_it_bound():
    (book,) = books(IPD, "honest(AlwaysCooperate)", "AlwaysCooperate")
    assert [(p.outcome, p.turn, p.action, p.breach) for p in book.promises] == [
        ("kept", 1 + 2 * number, "COOPERATE", "") for number in range(4)
    ]


def test_who_breaks_alone_betrays():
    (book,) = books(IPD, "liar(AlwaysDefect)", "honest(AlwaysCooperate)")
    assert breaches(book, 0) == ["unilateral"] * 4
    assert breaches(book, 1) == [""] * 4


def test_who_breaks_together_does_not_betray():
    (book,) = books(IPD, "liar(AlwaysDefect)", "liar(AlwaysDefect)")
    assert {breach for seat in (0, 1) for breach in breaches(book, seat)} == {"mutual"}


def test_who_answers_a_breach_retaliates():
    (book,) = books(IPD, "liar(AlternateDefect)", "liar(AlternateDefect(first=C))")
    first = next(p for p in book.promises if p.outcome == "broken")
    others = [p for p in book.promises if p.outcome == "broken" and p.said.seat != first.said.seat]
    assert others
    assert {p.breach for p in others} <= {"retaliation", "mutual"}


class Giving(Language):
    """Public goods with one promise."""

    def sentences(self):
        yield Plays("I will keep all", "KEEP")


def scripted(game, *turns):
    """Return the ledger of an episode in which the seats act so, turn by turn."""
    episode = play(game, ["first-legal"], episodes=1).episodes[0]
    episode.decisions = [replace(row, action=turns[row.turn][row.seat]) for row in episode.decisions]
    return ledger(episode)


@pytest.mark.parametrize(
    ("reader", "breach"),
    [("ALL", "retaliation"), ("player 1", "retaliation"), ("player 2", "unilateral")],
)
def test_only_a_breach_of_a_promise_that_was_read_is_answered(monkeypatch, reader, breach):
    """Seat 0 breaks its word in the first round, seat 1 in the second: retaliation only if it could read that word."""
    monkeypatch.setattr(PublicGoods, "language", Giving)
    language_of.cache_clear()
    book = scripted(
        "talk(public-goods(rounds=2), channel=both)",
        (f"TO {reader}: I will keep all", SILENT, SILENT),
        ("CONTRIBUTE", "KEEP", "KEEP"),
        (SILENT, "TO player 2: I will keep all", SILENT),
        ("KEEP", "CONTRIBUTE", "KEEP"),
    )
    language_of.cache_clear()
    assert [(promise.said.seat, promise.breach) for promise in book.promises] == [(0, "unilateral"), (1, breach)]


def test_rounds_that_know_nothing_of_each_other_hold_no_grudges():
    book = scripted(
        "talk(kuhn(hands=2), before=round, intents=[move])",
        ("I will BET", SILENT),
        ("PASS", None),
        (None, "PASS"),
        (SILENT, "I will BET"),
        (None, "PASS"),
        ("PASS", None),
    )
    assert [promise.breach for promise in book.promises] == ["unilateral", "unilateral"]


def test_a_promise_of_an_illegal_move_is_void():
    """It binds the move without a legal reply, and not the one after."""
    quiet, moves = (SILENT, SILENT), ("DEFECT", "DEFECT")
    book = scripted("talk(ipd(rounds=2))", ("I will play COOPERATE", SILENT), (None, "DEFECT"), quiet, moves)
    assert [(p.outcome, p.turn, p.breach) for p in book.promises] == [("void", 1, "")]


def test_a_promise_whose_condition_is_never_met_is_void():
    game = "talk(kuhn(hands=1), before=round, intents=[move])"
    outcomes = {
        (promise.said.text, promise.outcome)
        for book in books(game, "babbler(AlwaysBet)", "CallingStation", episodes=40)
        for promise in book.promises
    }
    assert ("I will BET", "kept") in outcomes
    assert ("I will PASS", "broken") in outcomes
    assert {outcome for text, outcome in outcomes if text in ("I will FOLD", "I will CALL")} == {"void"}


def test_promises_end_with_the_round_where_rounds_know_nothing_of_each_other():
    game = "talk(kuhn(hands=2), before=round, intents=[move], interval=2)"
    for book in books(game, "babbler(AlwaysBet)", "CallingStation", episodes=20):
        assert all(promise.turn in (-1, 1, 2, 3) for promise in book.promises)


def test_a_game_without_talk_has_no_ledger():
    episode = play("kuhn", "random").episodes[0]
    with pytest.raises(BadParameter, match="has no talk"):
        ledger(episode)


@pytest.mark.parametrize(
    ("metric", "player", "figure"),
    [
        ("messages", "honest(NashApprox)", 1.0),
        ("messages", "NashApprox", 0.0),
        ("honesty", "honest(NashApprox)", 1.0),
        ("honesty", "inverter(NashApprox)", 0.0),
        ("kept", "honest(NashApprox)", None),
    ],
)
def test_bots_have_the_figures_that_they_are_made_for(metric, player, figure):
    found = METRICS[metric].measure(sample(KUHN, player))
    assert (found and found.mean) == figure
    if found:
        assert found.low - 1e-9 <= figure <= found.high + 1e-9


def test_a_liar_lies_at_its_rate_and_shuffled_statements_are_true_by_chance():
    taken = sample(KUHN, "liar(NashApprox, p=0.25)", episodes=120)
    found = METRICS["honesty"].measure(taken)
    assert found.low < 0.75 < found.high
    assert METRICS["honesty"].null(taken) == pytest.approx(1 / 3, abs=0.05)


@dataclass(frozen=True)
class Named:
    """Item of a public history."""

    value: int
    public: tuple = ()


def test_shuffling_within_one_history_tells_nothing_about_singles():
    def chance(*items):
        shuffles = RecordedGames(()).shuffle_promises([WeighedItem(item) for item in items])
        return by_chance(shuffles, lambda what, where: float(what.value == where.value))

    assert chance(Named(1)) is None
    assert chance(Named(1), Named(0)) == 0.5
    assert chance(Named(1), Named(0, ((0, 0, "x"),))) is None


def test_statements_are_shuffled_among_those_of_one_seat():
    """In both seats a card is known: two deals of one seat are shuffled, and not with the other seat's."""
    taken = sample(KUHN, "honest(NashApprox)", episodes=2)
    assert {episode.seat_of(0) for episode in taken.matchups[0].episodes} == {0, 1}
    assert METRICS["honesty"].null(taken) is None


def sample(game, player, episodes=30):
    from stratagem.measure.matchups import Matchup

    episodes = tuple(play(game, [player, "NashApprox"], episodes=episodes, seed=1).episodes)
    return Sample(make_game(game), (Matchup("NashApprox", 1, ("opponents",), episodes),))


class Reader:
    """Says and orders what it was given, one line or sheet after another, and then nothing."""

    name, traits = "reader", Traits(exact=False)

    def __init__(self, said, orders):
        self.said, self.orders = said, orders

    def turn(self, ask):
        facts = ask.view.facts
        phase = facts.inner.board.phase
        if facts.exchange != MOVE:
            return Move(self.said.get(phase, SILENT))
        return Move(ask.view.choices.canonical(self.orders.get(phase, "").split("\n")))

    def policy(self, view):
        raise AssertionError("it states none")


def test_a_promise_of_a_phase_in_which_no_order_could_break_it_binds_no_later_one():
    """In spring no French unit reaches Germany, so peace binds nothing; in fall the army in Burgundy enters Munich."""
    france = {"S1901M": "A MAR H\nA PAR - BUR\nF BRE H", "F1901M": "A MAR H\nA BUR - MUN\nF BRE H"}
    germany = {"S1901M": "A BER H\nA MUN - RUH\nF KIE H", "F1901M": "A BER H\nA RUH H\nF KIE H"}
    for spoken, outcomes in (
        ("S1901M", [("void", "")]),
        ("F1901M", [("broken", "unilateral")]),
    ):
        players = [Reader({spoken: "Peace with GERMANY"}, france), Reader({}, germany)]
        (book,) = books("talk(diplomacy(until=1901, only=[FRANCE, GERMANY], judged=False))", *players)
        assert [(promise.outcome, promise.breach) for promise in book.promises] == outcomes

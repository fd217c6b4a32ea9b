"""One table: what a player does wrong is recorded, the game's own rule follows, and no other table notices."""

import pickle

import pytest
from fakes import Engine, Fake, asking, setups

from stratagem.games.base import RoundResult
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.players.base import Ask, Move
from stratagem.players.catalogue import make_player
from stratagem.players.uniform import Random
from stratagem.playing.forks import replay
from stratagem.playing.match import Match, Setup
from stratagem.playing.rows import FIELDS, DecisionRows
from stratagem.playing.scheduler import play


def raises(ask):
    raise RuntimeError("no idea")


def raises_before_asking(ask):
    raise RuntimeError("no idea")
    yield


def raises_when_told(ask):
    yield (ask.key.value, ask.turn, ask.view.seat, 0, ask.view.choices)
    raise RuntimeError("no idea")


def leaves(ask):
    raise SystemExit(3)


def stops(ask):
    return next(iter(()))


def yields_nothing(ask):
    yield None


def yields_its_move(ask):
    yield Move(ask.view.choices.first)


def returns_a_text(ask):
    yield (ask.key.value, ask.turn, ask.view.seat, 0, ask.view.choices)
    return ask.view.choices.first


class Shy:
    def __repr__(self):
        raise ValueError("not for showing")


FAULTS = {
    "raises": (raises, "error", "RuntimeError: no idea"),
    "raises before asking": (raises_before_asking, "error", "RuntimeError: no idea"),
    "raises when told": (raises_when_told, "error", "RuntimeError: no idea"),
    "leaves": (leaves, "error", "SystemExit: 3"),
    "stops": (stops, "error", "StopIteration: "),
    "plays illegally": (lambda ask: Move("FLY"), "illegal", "FLY"),
    "plays nothing": (lambda ask: Move(None), "illegal", None),
    "plays a list": (lambda ask: Move(["PASS"]), "illegal", "['PASS']"),
    "plays an object": (lambda ask: Move(object()), "illegal", "<object object>"),
    "plays what cannot be shown": (lambda ask: Move(Shy()), "illegal", "a Shy that cannot be shown"),
    "answers None": (lambda ask: None, "error", "answered None where a Move or a generator was due"),
    "answers a text": (lambda ask: "PASS", "error", "answered PASS where a Move or a generator was due"),
    "answers a number": (lambda ask: 7, "error", "answered 7 where a Move or a generator was due"),
    "yields None": (yields_nothing, "error", "yielded None where a request was due"),
    "returns a text": (returns_a_text, "error", "a Move or a generator was due"),
    "yields its move": (yields_its_move, "error", "where a request was due"),
    "speaks no Unicode": (lambda ask: Move("\ud800"), "illegal", "\\ud800"),
    "is long-winded": (lambda ask: Move("x" * 5000), "illegal", "x" * 2000 + "…"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_recorded_and_stays_at_its_table(fault):
    turn, how, said = FAULTS[fault]
    sane = setups("kuhn", [asking(), "random"], 6)
    broken = setups("kuhn", [Fake(turn), "random"], 2, name="broken")
    alone = {e.id: e for e in play(sane, Engine(), live=4)}
    together = {e.id: e for e in play([*sane[:3], *broken, *sane[3:]], Engine(), live=4)}
    assert {name: together[name] for name in alone} == alone
    for name in together.keys() - alone.keys():
        episode = together[name]
        rows = [row for row in episode.decisions if row.slot == 0]
        seat = episode.seat_of(0)
        assert rows
        assert episode.num_illegal[seat] == episode.num_decisions[seat] == len(rows)
        assert episode.num_illegal[1 - seat] == 0
        for row in rows:
            assert (row.how, row.action) == (how, None)
            assert (row.said or "").endswith(said or "")
            assert (row.said is None) == (said is None)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_returned_value_is_never_sent_to_the_engine(fault):
    engine = Engine()
    list(play(setups("kuhn", [Fake(FAULTS[fault][0]), "random"], 4), engine))
    assert all(type(request) is tuple for batch in engine.batches for request in batch)


def one(game, *players):
    made = make_game(game)
    seated = [make_player(p, made) if isinstance(p, str) else p for p in players]
    setup = Setup(id="one", match=Match(made, seated), slots=tuple(range(len(players))), key=Key(3))
    return next(iter(play([setup])))


def test_the_null_action_pays_least_discards_the_others_turn_and_enters_no_history():
    episode = one("ipd(rounds=2)", Fake(lambda ask: Move("FLY")), "AlwaysDefect")
    assert episode.rounds == [(-1.0, 0.0)] * 2
    assert [row.keep for row in episode.decisions] == [True, False] * 2
    assert {row.state_key for row in episode.decisions} == {"start"}
    assert [row.payoff for row in episode.decisions] == [-1.0, 0.0] * 2


def test_the_default_action_is_played_for_a_silent_seat():
    episode = one("kuhn(hands=1)", Fake(raises), "AlwaysBet")
    assert [row.info_key[2:] for row in episode.decisions] == ["", "P", "PB"]
    assert episode.payoffs == [-1.0, 1.0]
    assert one("negotiation-v1", Fake(raises), "Hard").payoffs == [0.0, 32.0]


def test_a_game_is_forfeited_after_the_retries():
    episode = one("tic-tac-toe", Fake(lambda ask: Move("z9")), "random")
    assert [(row.turn, row.attempt, row.how) for row in episode.decisions] == [(0, 0, "illegal"), (0, 1, "illegal")]
    assert episode.payoffs == [-1.0, 1.0]
    assert (episode.num_decisions, episode.num_illegal) == ([1, 0], [1, 0])
    assert episode.finished


def test_a_second_attempt_has_dice_of_its_own_and_may_succeed():
    keys = []

    def turn(ask):
        keys.append(ask.key.value)
        return Move("z9") if ask.attempt == 0 else Move(ask.view.choices.first)

    episode = one("tic-tac-toe", Fake(turn), "first-legal")
    assert len(set(keys)) == len(keys) == 2 * episode.num_decisions[0]
    assert episode.num_illegal == [0, 0]
    assert sum(row.payoff for row in episode.decisions if row.seat == 0) == episode.payoffs[0]


def test_a_raising_player_that_asks_is_asked_again_where_the_game_retries():
    engine = Engine()
    setup = setups("tic-tac-toe", [Fake(raises_when_told), "random"], 2)
    for episode in play(setup, engine):
        last = [row for row in episode.decisions if row.slot == 0]
        assert [(row.attempt, row.how) for row in last] == [(0, "error"), (1, "error")]
    assert len(engine.batches) == 2


def test_an_absent_seat_plays_the_games_default():
    episode = one("ipd(rounds=3)", None, "TitForTat")
    assert episode.players[0] == "absent"
    assert {row.how for row in episode.decisions if row.seat == 0} == {"absent"}
    first = make_game("ipd").choices(make_game("ipd").start(Key(0)).view(0).facts).first
    assert {row.action for row in episode.decisions if row.seat == 0} == {first}
    assert episode.num_illegal == [0, 0]


def test_without_detail_there_are_the_same_totals_and_no_decisions():
    for game in ("kuhn", "auction", "tic-tac-toe"):
        full = list(play(setups(game, ["random", "random"], 6)))
        bare = list(play(setups(game, ["random", "random"], 6), detail=False))
        assert all(not episode.decisions for episode in bare)
        for episode in full:
            episode.decisions = []
        assert full == bare


def test_what_is_paid_while_others_move_goes_to_the_last_decision():
    """No game of ours pays a seat twice between two of its turns, but one may."""
    rows = DecisionRows(seats=2)
    rows.append((0, 0, 0, 1, 1, 0, "state", "info", "BET", "scripted", None, ()))
    rows.close_turn(RoundResult((0.0, 0.0), closed=False))
    for _ in range(3):
        rows.credit(RoundResult((2.0, 2.0), closed=False))
    assert rows.payoffs == [6.0]


def test_episode_holds_rows_until_its_decisions_are_asked_for():
    """Objects that somebody changed are what is then stored."""
    (episode, *_) = play(setups("kuhn", ["random", "random"], 2))
    rows = episode.rows()
    assert episode.rows() is rows
    assert [row.action for row in episode.decisions] == [row[FIELDS.index("action")] for row in rows.rows()]
    assert episode.decisions is episode.decisions
    episode.decisions[0].keep = False
    assert episode.rows().dropped == {0}
    assert episode == pickle.loads(pickle.dumps(episode))


@pytest.mark.parametrize("game", ["kuhn", "auction(seats=3)", "negotiation-v2", "spiel:kuhn_poker(players=3)", "pig"])
def test_decisions_carry_all_that_is_paid(game):
    seats = make_game(game).spec.seats
    for episode in play(setups(game, ["random"] * seats, 6)):
        for seat in range(seats):
            paid = sum(row.payoff for row in episode.decisions if row.seat == seat)
            assert paid == pytest.approx(episode.payoffs[seat])
            assert sum(row[seat] for row in episode.rounds) == pytest.approx(episode.payoffs[seat])
        assert episode.num_decisions == [sum(row.seat == seat for row in episode.decisions) for seat in range(seats)]


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_play_stops_after_the_turns_that_were_asked_for(turns):
    game = make_game("tic-tac-toe")
    match = Match(game, [make_player("random", game)] * 2)
    (episode,) = play([Setup(id="e", match=match, slots=(0, 1), key=Key(1), turns=turns)])
    assert [row.turn for row in episode.decisions] == list(range(turns))
    assert not episode.finished


def test_turns_are_counted_from_where_a_fork_begins():
    game = make_game("tic-tac-toe")
    match = Match(game, [make_player("random", game)] * 2)
    (parent,) = play([Setup(id="p", match=match, slots=(0, 1), key=Key(1), turns=2)])
    forked = Setup(
        id="f", match=match, slots=(0, 1), key=Key(2), parent="p", forked_at=2, state=replay(parent, 2), turns=2
    )
    (episode,) = play([forked])
    assert [row.turn for row in episode.decisions] == [2, 3]


def test_what_the_end_is_worth_is_told_to_seats_that_did_not_act_last():
    """In a retreat only some are asked, and the end of the game is everybody's."""
    game = make_game("diplomacy(until=1903)")
    match = Match(game, [make_player("dumbbot", game)] * 7)
    setups = (Setup(id=f"{n}", match=match, slots=tuple(range(7)), key=Key(n)) for n in range(12))
    for episode in play(setups):
        last = {row.seat: row for row in episode.decisions}
        assert all(last[seat].parts[-1].kind == "outcome" for seat in range(7))
        assert all(not row.parts or row.parts[-1].slot for row in episode.decisions if row is not last[row.seat])
        if len({row.turn for row in last.values()}) > 1:
            return
    pytest.fail("all seats acted last in every game")


def test_key_memory_and_payoffs_are_those_of_the_player_and_not_of_its_seat():
    """Player 0 sits at seat 1, where it defects against a cooperator."""
    told = {}

    class Hearing(Fake):
        def hear(self, view, payoff, *, over):
            told["heard"] = (view.seat, payoff)

    def turn(ask):
        own = Ask(ask.view, Key(5 + ask.slot), ask.slot, ask.turn, ask.attempt, None)
        told[ask.slot] = (ask.key == own.key, ask.past)
        return Move("DEFECT" if ask.slot == 0 else "COOPERATE")

    memories = (Past({("DEFECT", "DEFECT"): 3}, ("DEFECT", "DEFECT"), 3), NOTHING)
    match = Match(make_game("ipd(rounds=1)"), [Hearing(turn), Fake(turn)])
    setup = Setup(id="one", match=match, slots=(1, 0), key=Key(1), draw_keys=(Key(5), Key(6)), pasts=memories)
    next(iter(play([setup])))
    assert told == {0: (True, memories[0]), 1: (True, memories[1]), "heard": (1, 5.0)}


def test_a_method_called_look_makes_no_onlooker():
    """The name is a common word: a player looks on by its base class alone."""

    class Looking(Random):
        def look(self, cards):
            raise AssertionError("nobody asked")

    match = Match(make_game("kuhn(hands=1)"), [Looking(), Random()])
    assert match.onlookers == []
    assert len(list(play(setups("kuhn(hands=1)", [Looking(), Random()], 2)))) == 2


def test_rows_of_a_late_seat_stand_in_the_order_of_the_seats():
    rows = DecisionRows(seats=3)
    for seat, attempt in ((1, 0), (2, 0), (0, 0), (0, 1)):
        rows.append((0, 0, 0, seat, seat, attempt, "state", "info", "BET", "scripted", None, ()))
    rows.close_turn(RoundResult((1.0, 0.0, 2.0), keep=(True, False, True)))
    assert [(row[FIELDS.index("seat")], row[FIELDS.index("attempt")]) for row in rows.rows()] == [
        (0, 0), (0, 1), (1, 0), (2, 0)
    ]  # fmt: skip
    assert rows.payoffs == [0.0, 1.0, 0.0, 2.0]
    assert rows.dropped == {2}

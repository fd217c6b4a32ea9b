"""Results of games of one's own: what is no result ends play with one sentence."""

import math
from dataclasses import dataclass, replace

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import Flat, Game, GameSpec, Key, RoundResult, View
from stratagem.games.abilities import TimedState
from stratagem.games.enumeration import starts
from stratagem.players.catalogue import make_player
from stratagem.playing import table
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

RESULTS = {
    "short": RoundResult((1.0,)),
    "short zeros": RoundResult((0.0,)),
    "none": RoundResult(None),
    "text": RoundResult(("a", "b")),
    "nan": RoundResult((math.nan, 0.0)),
    "inf": RoundResult((math.inf, -math.inf)),
    "huge": RoundResult((10**400, 0)),
    "no result": None,
}
ENDLESS, OPEN, OVER = "endless", "open", "over"


class BrokenState(TimedState):
    def begin(self):
        super().begin()
        if self.game.kind == OVER:
            self.end()

    def view(self, seat):
        return View(self.game, seat, seat)

    def play(self, actions):
        self.round += 1
        if self.game.kind == ENDLESS:
            return RoundResult((1.0, -1.0), closed=self.round % 2 == 0)
        if self.game.kind == OPEN:
            return RoundResult((0.0, 0.0), closed=False)
        self.end()
        return RESULTS[self.game.kind]

    def standing(self):
        result = RESULTS[self.game.kind]
        return result and result.payoffs


@dataclass(frozen=True)
class Broken(Game):
    kind: str = "short"
    state = BrokenState
    spec = GameSpec(
        name="broken",
        family="broken",
        summary="Wrong payoffs.",
        rounds=1,
        simultaneous=True,
        utility="general-sum",
        bounds=(-1.0, 1.0),
        chance=False,
        private_information=False,
        symmetric=True,
    )

    def choices(self, facts):
        return Flat(("A", "B"))

    def rules(self, seat):
        return "Choose."

    def situation(self, facts):
        return "Now."


def match(game):
    return Match(game, [make_player("random", game)] * 2)


@pytest.mark.parametrize("detail", [True, False])
@pytest.mark.parametrize("kind", [kind for kind in RESULTS if kind != "no result"])
def test_payoffs_that_are_not_one_finite_number_a_seat_are_refused(kind, detail):
    with pytest.raises(BadParameter) as failed:
        list(play([Setup(id="e", match=match(Broken(kind)), slots=(0, 1), key=Key(1))], detail=detail))
    payoffs = RESULTS[kind].payoffs
    assert str(failed.value) == (
        f"broken(kind={kind!r}) returned the payoffs {payoffs!r} from play: they must be one finite number for each of "
        "its 2 seats."
    ).replace("(kind='short')", "")


def test_a_result_that_is_none_is_refused():
    with pytest.raises(BadParameter, match=r"returned None from play: it must return a RoundResult\.$"):
        list(play([Setup(id="e", match=match(Broken("no result")), slots=(0, 1), key=Key(1))]))


def test_the_value_of_a_position_is_one_finite_number_a_seat():
    setup = Setup(id="e", match=match(Broken("nan")), slots=(0, 1), key=Key(1), turns=0, counted=True)
    with pytest.raises(BadParameter, match=r"returned the payoffs \(nan, 0\.0\) from standing: they must be one"):
        list(play([setup]))


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_game_that_goes_beyond_its_rounds_is_stopped(rounds):
    spec = replace(Broken.spec, rounds=rounds)
    endless = dataclass(frozen=True)(type("Endless", (Broken,), {"spec": spec}))(ENDLESS)
    with pytest.raises(BadParameter, match=rf"goes beyond the rounds={rounds} that its spec declares: end it by"):
        list(play([Setup(id="e", match=match(endless), slots=(0, 1), key=Key(1))]))


def test_a_game_without_a_number_of_rounds_goes_on():
    endless = dataclass(frozen=True)(type("Endless", (Broken,), {"spec": replace(Broken.spec, rounds=None)}))(ENDLESS)
    (episode,) = play([Setup(id="e", match=match(endless), slots=(0, 1), key=Key(1), rounds=50)])
    assert episode.rounds == [(2.0, -2.0)] * 50


def test_a_game_that_closes_no_round_is_stopped(monkeypatch):
    monkeypatch.setattr(table, "LONGEST_ROUND", 50)
    with pytest.raises(
        BadParameter, match=r"has taken \d+ turns and closed no round: end it by self\.end\(\), or return"
    ):
        list(play([Setup(id="e", match=match(Broken(OPEN)), slots=(0, 1), key=Key(1))]))


def test_the_turns_of_a_round_are_counted_anew(monkeypatch):
    monkeypatch.setattr(table, "LONGEST_ROUND", 2)
    endless = dataclass(frozen=True)(type("Endless", (Broken,), {"spec": replace(Broken.spec, rounds=None)}))(ENDLESS)
    (episode,) = play([Setup(id="e", match=match(endless), slots=(0, 1), key=Key(1), rounds=50)])
    assert len(episode.rounds) == 50


def test_a_deal_in_which_no_seat_is_to_act_is_refused():
    with pytest.raises(BadParameter, match=r"^broken has a deal in which no seat is to act: let a seat act in every"):
        list(play([Setup(id="e", match=match(Broken(OVER)), slots=(0, 1), key=Key(1))]))
    with pytest.raises(BadParameter, match=r"no seat is to act"):
        list(starts(Broken(OVER)))

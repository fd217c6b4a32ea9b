"""Whole evaluations: the same deals for everybody, chance beside them, and mistakes told before anything is played."""

import re
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from shutil import copy

import pytest

from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadParameter, StratagemError, UnknownName
from stratagem.games.catalogue import game_names, make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import SAFETY
from stratagem.measure import evaluate as module
from stratagem.measure import suites
from stratagem.measure.evaluate import evaluate, num_rows, set_episodes
from stratagem.measure.matchups import Evaluator
from stratagem.measure.metrics import METRICS
from stratagem.measure.resumable import ResumableRecord
from stratagem.measure.suites import SUITES, Suite, SuiteLine, find_suite
from stratagem.players.base import Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.store import read_episodes

SHORT = Evaluator(episodes=4, key=Key(5))
MATRIX = "matrix(payoffs=[[(1, 2), (0, 0)], [(3, -1), (2, 2)]])"


def seated(line):
    game = make_game(line.game)
    return [make_player(name, game) for names in line.pools.values() for name in names]


SUITE = str(Path(__file__).parents[2] / "examples" / "card_suite.py")
ODD = """
from dataclasses import replace
from stratagem.measure.suites import SUITES, Suite, SuiteLine
from stratagem.games.kuhn import Kuhn

def empty():
    return replace(SUITES["sepo"], lines=())

def nobody():
    return replace(SUITES["sepo"], lines=(SuiteLine("kuhn", {"train": ()}),))

def never():
    return replace(SUITES["sepo"], episodes=0)

def unmetric():
    return replace(SUITES["sepo"], metrics=("payy",))

def number():
    return 3

def game():
    return Kuhn(hands=2)

def unpool():
    return Suite("", "", (SuiteLine("kuhn", {"oponents": ("random",)}),), ("payoff",), 1)

def text():
    return Suite("", "", (SuiteLine("kuhn", {"train": "random"}),), ("payoff",), 1)
"""


OWN = """
from stratagem.measure.suites import Suite, SuiteLine

def mine():
    pools = {"opponents": ("random", "noise(bots.py:Giver, p=0.5)")}
    line = SuiteLine("threshold_goods.py:ThresholdGoods", pools)
    return Suite("", "", (line,), ("payoff", "worst_episode.py:WorstEpisode"), 3)
"""
GIVER = """
from stratagem.players.base import Scripted

class Giver(Scripted):
    def strategy(self, view):
        return "GIVE"
"""


@pytest.fixture
def own_suite(tmp_path, monkeypatch):
    """Name of a suite whose game, player and metric are files beside it, with nothing that was run before."""
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("threshold_goods.py", "worst_episode.py"):
        copy(Path(SUITE).with_name(name), folder)
    (folder / "suite.py").write_text(OWN, "utf-8")
    (folder / "bots.py").write_text(GIVER, "utf-8")
    yield f"{folder}/suite.py:mine"
    with suppress(KeyError):
        del METRICS["worst_episode.py:WorstEpisode"]


def test_a_suite_of_a_file_names_files_beside_it(own_suite):
    with commanding([own_suite]):
        (found,) = evaluate(find_suite(own_suite), ["first-legal"], SHORT, chance=False)
    assert found.rows[0].metrics["worst_episode.py:WorstEpisode"].mean == 2.0


def test_a_suite_of_a_program_names_files(own_suite, monkeypatch):
    monkeypatch.chdir(Path(own_suite).parent)
    line = SuiteLine("threshold_goods.py:ThresholdGoods", {"opponents": ("bots.py:Giver",)})
    with commanding():
        assert evaluate(find_suite(Suite("own", "", (line,), ("payoff",), 3)), ["first-legal"], SHORT, chance=False)


def test_a_suite_that_only_a_record_names_allows_no_file(own_suite):
    with commanding([own_suite]):
        find_suite(own_suite)
    with commanding():
        suite = find_suite(own_suite)  # it is known, since it was run before; the game was not
        with pytest.raises(BadParameter, match=r"threshold_goods.py would run the file"):
            make_game(suite.lines[0].game)


def test_a_suite_may_be_of_a_file_or_of_a_package(monkeypatch):
    with commanding([f"{SUITE}:cards"]):
        suite = find_suite(f"{SUITE}:cards")
        assert [line.game for line in suite.lines] == ["kuhn(hands=1)", "leduc"]
        assert suite.lines[0].pools["exploit"] == ("AlwaysBet",)
        found = evaluate(suite, ["random"], SHORT, chance=False)
        assert [(result.text, set(result.rows[0].metrics)) for result in found] == [
            ("kuhn(hands=1)", {"payoff", "win rate", "pool_advantage"}),
            ("leduc", {"payoff", "win rate", "pool_advantage"}),
        ]
        monkeypatch.setitem(suites.REGISTRY.table, "cards", lambda: replace(suite, name="other"))
        assert find_suite("cards") == replace(suite, name="cards")
        assert find_suite("cards", ("random",)).lines[1].pools == {"opponents": ("random",)}
    assert "cards" in suites.suite_names()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("empty", "needs lines: each a SuiteLine of a game and its opponents by pool"),
        ("nobody", "needs lines: each a SuiteLine of a game and its opponents by pool"),
        ("never", "needs `episodes` of at least 1, not 0"),
        ("unpool", "has a pool 'oponents', which no metric counts: there are train, exploit, collusive, shifted, oppo"),
        ("text", "The pool train of the suite odd.py:text must be a tuple of players, not 'random'."),
        ("unmetric", "no metric called 'payy': did you mean pay"),
        ("number", "odd.py:number makes int, which is no game"),
        ("nothing", "no suite or game called 'odd.py:nothing'"),
        ("number(x=1)", "cannot be made so: it has no option x"),
    ],
)
def test_a_wrong_suite_is_one_sentence(tmp_path, monkeypatch, name, says, as_new_process):
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.chdir(tmp_path)
    as_new_process()
    with commanding(["odd.py:number"]):
        with pytest.raises(StratagemError, match=re.escape(says)):
            find_suite(f"odd.py:{name}")
        assert find_suite("odd.py:game").lines[0].pools["shifted"] == SAFETY["kuhn"].pools["shifted"]


@pytest.mark.parametrize("name", [*SUITES, *(MATRIX if name == "matrix" else name for name in game_names())])
def test_every_suite_can_be_set_up(name):
    suite = find_suite(name)
    assert suite.lines
    assert suite.episodes >= 20
    assert set(suite.metrics) <= set(METRICS)
    assert all(seated(line) for line in suite.lines)


def test_a_game_with_pools_is_measured_for_safety_and_any_other_as_a_contest():
    assert find_suite("ipd(rounds=3)").lines[0].pools == SAFETY["ipd"].pools
    assert "safety" in find_suite("kuhn").metrics
    assert find_suite("tic-tac-toe").lines[0].pools == {"opponents": ("random", "mcts:100")}
    assert find_suite("kuhn", ("random",)).lines[0].pools == {"opponents": ("random",)}
    assert [line.game for line in find_suite("sepo", ("random",)).lines] == [line.game for line in SUITES["sepo"].lines]


def test_an_unknown_suite_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="no suite or game called 'seppo': did you mean sepo"):
        find_suite("seppo")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("quiz(kind=trackin)", "There is no kind of question called 'trackin': did you mean tracking?"),
        ("spiel:leducpoker", "There is no OpenSpiel game called 'leducpoker': did you mean leduc_poker"),
        ("talk(khun)", "There is no game called 'khun': did you mean kuhn?"),
    ],
)
def test_a_wrong_name_within_a_game_is_named_by_its_kind(text, answer):
    with pytest.raises(UnknownName) as said:
        find_suite(text)
    assert str(said.value).startswith(answer)


def test_two_agents_get_the_same_deals_from_one_opponent():
    game = make_game("kuhn")
    matchups = [
        SHORT.matchup(game, make_player(n, game), make_player("AlwaysBet", game), ())
        for n in ("PotControl", "TightValue")
    ]
    for one, other in zip(matchups[0].episodes, matchups[1].episodes, strict=True):
        assert (one.key, one.chance, one.slots) == (other.key, other.chance, other.slots)
        assert one.id != other.id
    assert len({e.chance for e in matchups[0].episodes}) == 2
    against = SHORT.matchup(game, make_player("PotControl", game), make_player("TightPassive", game), ())
    assert not {e.chance for e in against.episodes} & {e.chance for e in matchups[0].episodes}


def test_a_bout_tells_both_sides_exactly_and_as_played():
    """A defector gets 5 from a cooperator, who gets 0, in either seat."""
    game = make_game("ipd(rounds=1)")
    defector, cooperator = (make_player(name, game) for name in ("AlwaysDefect", "AlwaysCooperate"))
    exact = Evaluator(episodes=2).matchup(game, defector, cooperator, ())
    sampled = replace(exact, expectations=())
    for matchup in (exact, sampled):
        assert (matchup.payoff(scaled=False).mean, matchup.opponent_payoff(scaled=False).mean) == (5.0, 0.0)
        assert matchup.advantage(scaled=False).mean == -5.0


def test_a_difference_is_taken_deal_by_deal():
    found = evaluate(find_suite("kuhn"), ["NashApprox", "LooseAggressive"], replace(SHORT, episodes=20))[0]
    first, second = found.rows[:2]
    pays = []
    for mine, theirs in zip(first.matchups, second.matchups, strict=True):
        if "train" in mine.pools:
            for one, other in zip(mine.episodes, theirs.episodes, strict=True):
                assert one.chance == other.chance
                scale = 3.0 / one.stakes[0].cooperative
                pays.append(scale * (other.per_round(other.seat_of(0)) - one.per_round(one.seat_of(0))))
    difference = found.differences[second.player]
    assert difference.estimate.mean == pytest.approx(sum(pays) / len(pays))
    assert difference.estimate.n == len(pays) / 2
    assert found.differences.keys() == {second.player, "random"}


def test_a_difference_counts_the_seats_that_both_players_had():
    """Of an interrupted record: the second player of nim wins, so one seat alone would make equals unequal."""
    game, evaluator = make_game("nim"), Evaluator(12, Key(0), budget=0)
    perfect, opponent = (make_player(name, game) for name in ("perfect", "perfect"))
    matchup = evaluator.matchup(game, perfect, opponent, ("opponents",))
    some = [episode for number, episode in enumerate(matchup.episodes) if number % 2 == 0 or number > 7]
    first, second = (
        module.row_of(game, name, [replace(matchup, episodes=tuple(own))], ("payoff",), (None, ""))
        for name, own in (("one", matchup.episodes), ("two", some))
    )
    assert first.metrics["payoff"].mean == 0.0 != second.metrics["payoff"].mean
    difference = module.differences([first, second], evaluator)["two"]
    assert (difference.estimate.mean, difference.estimate.n, difference.p_value) == (0.0, 6, 1.0)


def test_chance_is_the_last_row_and_can_be_left_out():
    def rows(players, **options):
        return [row.player for row in evaluate(find_suite("imp"), players, SHORT, **options)[0].rows]

    assert rows(["first-legal"]) == ["first-legal", "random"]
    assert rows(["first-legal"], chance=False) == ["first-legal"]
    assert rows(["Random", "first-legal", "first-legal"]) == ["random", "first-legal"]
    assert num_rows(find_suite("imp"), ["Random", "first-legal"]) == 2
    assert num_rows(find_suite("ipd"), ["Joss"]) == 2
    assert num_rows(find_suite("sepo"), ["Joss"], chance=False) == 5


OVERLAPS = {
    "ipd": (),
    "auction": (),
    "negotiation-v1": ("Fair stands in train and collusive", "Hard = Hardball stands in train and exploit"),
    "negotiation-v2": ("FairNeg stands in train and collusive",),
    "kuhn": ("NashApprox stands in train and exploit",),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_overlaps_of_the_pools_are_told(name):
    table = replace(SHORT, episodes=2, budget=0)
    suite = replace(find_suite(name), metrics=("payoff",))
    said = evaluate(suite, ["first-legal"], table, chance=False)[0].warnings
    assert len(said) == bool(OVERLAPS[name])
    if said:
        assert said[0].partition("independent: ")[2] == "; ".join(OVERLAPS[name]) + "."
    assert not evaluate(find_suite(name, ("random",)), ["first-legal"], table, chance=False)[0].warnings


class Raising:
    """Its traits promise a policy, and nothing of it works."""

    name, traits = "raising", Traits()

    def turn(self, ask):
        raise RuntimeError("no idea")

    def policy(self, view):
        raise RuntimeError("no idea")


def with_raising(name, game):
    return Raising() if name == "raising" else make_player(name, game)


@pytest.mark.parametrize("game", ["ipd", "kuhn", "nim"])
def test_a_raising_player_is_a_warning_and_a_row(game, monkeypatch):
    monkeypatch.setattr(module, "make_player", with_raising)
    (found,) = evaluate(
        find_suite(game, ("random", "raising")), ["raising", "first-legal"], replace(SHORT, budget=2_000)
    )
    assert "raising: a turn failed: RuntimeError: no idea" in found.warnings
    assert "first-legal: a turn of raising failed: RuntimeError: no idea" in found.warnings
    row = found.rows[0]
    assert row.metrics["illegal"] is None, "no turn of it was answered"
    assert row.exploitability.estimate is None
    assert "raised 'RuntimeError: no idea' when asked for its probabilities" in row.exploitability.why_not
    assert found.rows[1].metrics["illegal"].mean == 0.0


@pytest.mark.parametrize(
    ("suite", "players", "error"),
    [
        (find_suite("sepo", ("random",)), ["TitForTat"], UnknownName),
        (find_suite("kuhn"), ["NashAprox"], UnknownName),
        (find_suite("kuhn", ("nobody",)), ["random"], UnknownName),
        (find_suite("kuhn"), ["ipd/TitForTat"], BadParameter),
    ],
)
def test_nothing_is_played_before_every_name_is_known(suite, players, error, monkeypatch):
    played = []
    monkeypatch.setattr(Evaluator, "matchup", lambda *args: played.append(args))
    with pytest.raises(error):
        evaluate(suite, players, SHORT)
    assert played == []


@pytest.mark.parametrize("again", ["kuhn", "kuhn(hands=6)"])
def test_a_suite_has_each_game_once(again):
    lines = (
        suites.SuiteLine("kuhn", {"opponents": ("random",)}),
        suites.SuiteLine(again, {"opponents": ("AlwaysBet",)}),
    )
    twice = replace(SUITES["gtbench"], lines=lines)
    with pytest.raises(BadParameter, match="kuhn is there twice: put its opponents in one line"):
        evaluate(twice, ["mcts:2", "mcts:3"], Evaluator(2))


def test_an_opponent_that_is_named_in_several_ways_counts_once():
    opponents = ("AlwaysBet", "kuhn/AlwaysBet", "alwaysbet", "random")
    (result,) = evaluate(find_suite("kuhn", opponents), ["NashApprox"], SHORT, chance=False)
    (row,) = result.rows
    assert [matchup.opponent for matchup in row.matchups] == ["kuhn/AlwaysBet", "random"]
    assert row.metrics["payoff"].mean == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_the_pool_figure_is_exact_where_it_can_be_and_sampled_elsewhere():
    game = make_game("kuhn")
    nash, bet = make_player("NashApprox", game), make_player("AlwaysBet", game)
    exact, sampled = (
        Evaluator(episodes=400, budget=budget).matchup(game, nash, bet, ("exploit",)) for budget in (3000, 0)
    )
    assert exact.payoff().exact
    assert not sampled.payoff().exact
    assert sampled.payoff().mean == pytest.approx(exact.payoff().mean, abs=4 * sampled.payoff().se)
    assert sampled.advantage().mean == pytest.approx(-2 * sampled.payoff().mean)


def test_what_is_played_is_recorded(tmp_path):
    found = evaluate(find_suite("kuhn"), ["NashApprox"], replace(SHORT, record=ResumableRecord(tmp_path)))[0]
    played = [episode for row in found.rows for matchup in row.matchups for episode in matchup.episodes]
    assert sorted(read_episodes(tmp_path), key=attrgetter("id")) == sorted(played, key=attrgetter("id"))
    assert len(played) == 4 * 2 * 8


def test_the_same_seed_gives_the_same_figures():
    quick = replace(SHORT, budget=100)
    first, again = (evaluate(find_suite("auction"), ["Adaptive"], quick, chance=False) for _ in range(2))
    assert [row.metrics for row in first[0].rows] == [row.metrics for row in again[0].rows]
    other = evaluate(find_suite("auction"), ["Adaptive"], replace(quick, key=Key(6)), chance=False)
    assert first[0].rows[0].metrics != other[0].rows[0].metrics


@pytest.mark.parametrize("name", [line.game for line in SUITES["sepo"].lines])
def test_sepo_gives_every_player_every_figure(name):
    found = evaluate(find_suite(name), ["first-legal"], replace(SHORT, episodes=2, budget=300), chance=False)[0]
    missing = {metric for metric, estimate in found.rows[0].metrics.items() if estimate is None}
    assert missing == ({"collusion"} if name == "kuhn" else set())


def test_the_number_of_episodes_is_the_suites_unless_it_is_asked_for():
    assert set_episodes(SHORT, None, SUITES["gtbench"]).episodes == 100
    assert set_episodes(SHORT, 7, SUITES["gtbench"]).episodes == 7
    with pytest.raises(StratagemError, match="at least one episode"):
        set_episodes(SHORT, 0, SUITES["gtbench"])

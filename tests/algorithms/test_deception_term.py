"""Deceptive statements of rollouts: exact figures, branches in their place, and recipes without any."""

import math
from types import SimpleNamespace

import pytest

from stratagem.algorithms.sepo import deception
from stratagem.algorithms.sepo.deception import deceptions
from stratagem.algorithms.sepo.recipe import SEPORecipe, check_games
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.talk.exchange import Exchange
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import deceptive_statements, exchange_figures
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

KUHN = "talk(kuhn(hands=1), before=round, intents=[state], who=[0])"
CASES = [
    ("sender-receiver(bias=1)", "Exaggerator", "Honest", 5 / 6),
    ("sender-receiver(bias=1)", "Exaggerator", "Babbler", 0.0),
    ("sender-receiver(bias=1)", "Inverter", "Inverter", 0.0),
    ("sender-receiver(bias=1)", "Honest", "Honest", 0.0),
    (KUHN, "liar(NashApprox)", "believer(NashApprox)", None),
]
"""Game, speaker, reader, and the rate of deception; None is that of the game tree."""


def rollouts(game, speaker, reader, number=36):
    match = Match(game, [make_player(speaker, game), make_player(reader, game)])
    setups = [Setup(id=f"e{n}", match=match, slots=(0, 1), key=Key(n)) for n in range(number)]
    return list(zip(setups, play_setups(setups), strict=True))


def expected(game, speaker, reader, plays):
    """Return the rate over these deals by the exact verdicts."""
    verdicts = deceptive_statements(game, [make_player(name, game) for name in (speaker, reader)], 0)
    lies = [verdicts.get((row.info_key, row.action), False) for _, e in plays for row in e.decisions[:1]]
    return sum(lies) / len(lies)


@pytest.mark.parametrize(("text", "speaker", "reader", "rate"), CASES)
def test_deceptions_are_exact_where_both_state_their_policies(text, speaker, reader, rate, monkeypatch):
    game = make_game(text)
    plays = rollouts(game, speaker, reader)
    monkeypatch.setattr(deception, "play_setups", lambda setups: [pytest.fail("branches") for _ in setups])
    found = deceptions(plays, 8, Key(0), 500_000)
    assert found.judged == len(plays)
    assert found.rate == pytest.approx(expected(game, speaker, reader, plays))
    if rate is not None:
        assert found.rate == pytest.approx(rate, abs=0.15 if rate else 0.0)


@pytest.mark.parametrize(("text", "speaker", "reader", "rate"), CASES)
def test_deceptions_by_branches_agree_with_the_exact_ones(text, speaker, reader, rate, monkeypatch):
    """Deals are redrawn for the speaker, so a lie that the luck of one deal rewards is none."""
    game = make_game(text)
    plays = rollouts(game, speaker, reader, 12)
    right = expected(game, speaker, reader, plays)

    def refused(*given):
        raise CannotCompute("too large")

    monkeypatch.setattr(deception, "deceptive_statements", refused)
    assert deceptions(plays, 60, Key(1), 0).rate == pytest.approx(right)


@pytest.mark.parametrize(("mean", "is_sure"), [(0.42, False), (0.43, True)])
def test_lie_deceives_where_its_gain_is_beyond_chance(monkeypatch, mean, is_sure):
    """Gains of 16 deals are the mean plus and minus 1: 1.645 errors are 1.645 * sqrt(16 / 15) / 4 = .425."""

    def refused(*given):
        raise CannotCompute("too large")

    def branches(setups):
        for setup in setups:
            number, place = map(int, setup.id.rpartition("lie-")[2].split("."))
            gain = 0.0 if place else mean + (-1) ** number
            yield SimpleNamespace(payoffs=(gain, -gain))

    plays = rollouts(make_game("sender-receiver(bias=1)"), "Exaggerator", "Honest", 12)
    monkeypatch.setattr(deception, "deceptive_statements", refused)
    monkeypatch.setattr(deception, "play_setups", branches)
    assert (deceptions(plays, 16, Key(1), 0).rate > 0.0) is is_sure


def test_deceptive_statements_add_up_to_the_figure_of_the_tree():
    game = make_game(KUHN)
    players = [make_player("liar(NashApprox)", game), make_player("believer(NashApprox)", game)]
    verdicts, table = deceptive_statements(game, players, 0), TalkTree(game, players)
    sent = [(one.probability, verdicts.get((one.known.view.info_key, one.line))) for one in Exchange(table, 0).sent]
    assert sum(p for p, verdict in sent if verdict) == pytest.approx(exchange_figures(table, 0).deception)
    assert exchange_figures(table, 0).deception > 0.5


def test_deceptive_statements_count_once_a_round():
    game = make_game("sender-receiver(bias=1, rounds=2)")
    ((_, episode),) = plays = rollouts(game, "Exaggerator", "Honest", 1)
    found = deceptions(plays, 4, Key(0), 500_000)
    states = [row.action for row in episode.decisions if row.seat == 0]
    top = [number for number, row in enumerate(states) if found.by_round["e0"].get(number)]
    assert found.term(episode, 0) == dict.fromkeys(top, 1.0)
    assert found.deceptive == len(top) > 0


def test_rate_of_deception_is_undefined_without_statements():
    assert math.isnan(deceptions([], 4, Key(0), 0).rate)


def test_deception_weight_needs_statements():
    def recipe(game):
        return SEPORecipe.read({"games": [game], "sepo": {"deception_weight": 1.0}})

    with pytest.raises(BadParameter, match="deception_weight` acts in no game: in ipd its messages state nothing"):
        check_games(recipe("ipd"), [make_game("ipd")])
    with pytest.raises(BadParameter, match="acts in no game"):
        check_games(recipe("talk(ipd)"), [make_game("talk(ipd)")])

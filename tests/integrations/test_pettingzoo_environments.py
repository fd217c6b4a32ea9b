"""Our games as PettingZoo's own tests see them; run by `make test-integrations`, skipped without PettingZoo."""

import copy
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter, IllegalAction, UnknownName, WrongKind
from stratagem.games.catalogue import make_game
from stratagem.games.conformance import verify
from stratagem.games.foreign.audit import AUDIT
from stratagem.games.foreign.game import ForeignGame
from stratagem.games.foreign.pettingzoo_env import PettingZooEnvironment
from stratagem.games.foreign.translations import TRANSLATIONS
from stratagem.games.playthrough import golden
from stratagem.players.catalogue import make_player

pytest.importorskip("pettingzoo")
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils.conversions import parallel_to_aec

from stratagem.connect.pettingzoo import aec, parallel

TEXTS = [*golden().values(), "spiel:oshi_zumo"]
MASKED = ("negotiation-v2", "diplomacy(until=1901)", "goofspiel", "drawn", "spiel:oshi_zumo")
TOGETHER = [text for text in TEXTS if make_game(text).spec.simultaneous]
QUIET = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be",
    "Action mask numpy array is all zeros",
)
"""Warnings of PettingZoo about dicts with a mask, and about the end of an episode, where nothing is legal."""
DEALS = 200
MATCHES = {
    "kuhn": ("NashApprox", "Bluffer"),
    "ipd": ("GenerousTFT", "noise(TitForTat, p=0.2)"),
    "auction(seats=3)": ("random", "Adaptive", "FictitiousPlay"),
    "public-goods": ("random", "first-legal", "noise(first-legal, p=0.3)"),
    "negotiation-v2": ("MirrorNeg", "random"),
    "leduc": ("random", "cfr:20"),
    "goofspiel": ("random", "random"),
    "spiel:oshi_zumo": ("random", "random"),
    "quiz": ("random",),
}


@pytest.fixture(autouse=True)
def _known_warnings():
    """Make any other warning a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for text in QUIET:
            warnings.filterwarnings("ignore", message=f".*{text}.*")
        yield


@pytest.mark.parametrize("observation", ["text", "bytes"])
@pytest.mark.parametrize("text", TEXTS)
def test_aec_environments_pass_the_api_test(text, observation):
    api_test(aec(text, observation=observation), num_cycles=100)


@pytest.mark.parametrize("text", TEXTS)
def test_aec_environments_pass_the_seed_test(text):
    seed_test(lambda: aec(text), num_cycles=100)


@pytest.mark.parametrize("text", TOGETHER)
def test_parallel_environments_pass_the_api_test(text):
    parallel_api_test(parallel(text), num_cycles=100)


@pytest.mark.parametrize("text", TOGETHER)
def test_parallel_environments_pass_the_seed_test(text):
    """PettingZoo's test of parallel environments draws illegal actions, so it runs where all actions are legal."""
    seed_test(lambda: parallel_to_aec(parallel(text)), num_cycles=100)
    if text not in MASKED:
        parallel_seed_test(lambda: parallel(text), num_cycles=100)


@pytest.mark.parametrize("text", ["leduc", "goofspiel", "tic-tac-toe", "spiel:oshi_zumo"])
def test_tensors_are_those_of_openspiel(text):
    env = aec(text, observation="tensor")
    api_test(env, num_cycles=100)
    env.reset(seed=3)
    facts = env.unwrapped.playing.session.view(0).facts
    np.testing.assert_array_equal(
        env.observe("player_0")["observation"].ravel(), np.array(facts.tensor, dtype=np.float32)
    )


def payoffs_in_turns(env, players, deal):
    """Play a deal in an AEC environment, and return the payoff of each agent."""
    env.reset(seed=5, options={"deal": deal})
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, over, _, _ = env.last()
        paid[agent] += reward
        env.step(None if over else env.number_of(players[agent], agent))
    return list(paid.values())


def payoffs_together(env, players, deal):
    """Play a deal in a parallel environment, and return the payoff of each agent."""
    _, infos = env.reset(seed=5, options={"deal": deal})
    paid = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        actions = {agent: env.number_of(players[agent], agent) for agent in env.agents if infos[agent]["legal"]}
        _, rewards, _, _, infos = env.step(actions)
        for agent, reward in rewards.items():
            paid[agent] += reward
    return list(paid.values())


def expected(text, names, deals):
    """The payoffs of the same deals in `sg.play`, in the seating without rotation."""
    seats = len(names)
    episodes = sg.play(text, names, episodes=deals * seats, seed=5, progress=False).episodes
    return [episode.payoffs for episode in episodes[::seats]]


@pytest.mark.parametrize("text", MATCHES)
def test_deals_pay_what_play_pays(text):
    names = MATCHES[text]
    wanted, game = expected(text, names, DEALS), make_game(text)
    players = {f"player_{seat}": make_player(name, game) for seat, name in enumerate(names)}
    env = aec(text)
    assert [payoffs_in_turns(env, players, deal) for deal in range(DEALS)] == wanted
    if game.spec.simultaneous:
        env = parallel(text)
        assert [payoffs_together(env, players, deal) for deal in range(DEALS)] == wanted


def test_orders_of_diplomacy_are_given_slot_by_slot():
    names = ("diplomacy/dumbbot", "random", "diplomacy/hold", *("random",) * 4)
    text = "diplomacy(until=1902)"
    wanted, game = expected(text, names, 2), make_game(text)
    players = {f"player_{seat}": make_player(name, game) for seat, name in enumerate(names)}
    for env, play in ((aec(text), payoffs_in_turns), (parallel(text), payoffs_together)):
        assert [play(env, players, deal) for deal in range(2)] == wanted
    env = aec(text)
    env.reset()
    orders = list(env.infos["player_0"]["legal"].values())
    assert "A BUD H" in orders
    assert env.observe("player_0")["text"].endswith("BUD, 3 to go")


@pytest.mark.parametrize("opponent", ["NashApprox", "noise(Bluffer, p=0.5)"])
def test_opponents_play_as_in_a_match(opponent):
    wanted = expected("kuhn", ("random", opponent), 50)
    env, player = aec("kuhn", opponents={1: opponent}), make_player("random", make_game("kuhn"))
    assert env.possible_agents == ["player_0"]
    assert [payoffs_in_turns(env, {"player_0": player}, deal)[0] for deal in range(50)] == [row[0] for row in wanted]


def test_resets_without_a_seed_go_on_to_the_next_deal():
    env = aec("kuhn(hands=1)", seed=5)
    shown = []
    for _ in range(8):
        env.reset()
        shown.append(env.observe("player_0")["text"])
    assert len(set(shown)) > 1
    env.reset(seed=5)
    assert env.observe("player_0")["text"] == shown[0]
    env.reset()
    assert env.observe("player_0")["text"] == shown[1]
    env.reset(seed=5, options={"deal": 3})
    assert env.observe("player_0")["text"] == shown[3]


def test_a_game_of_a_file_is_walked_for_its_actions():
    text = f"{Path(__file__).resolve().parents[2] / 'examples' / 'threshold_goods.py'}:ThresholdGoods"
    api_test(aec(text), num_cycles=20)
    parallel_api_test(parallel(text), num_cycles=20)
    assert aec(text).action_space("player_2").n == 2


def test_environments_are_copied_before_they_begin():
    for env in (pickle.loads(pickle.dumps(aec("leduc"))), copy.deepcopy(aec("leduc"))):
        env.reset(seed=1)
        assert env.agent_selection == "player_0"


@pytest.mark.parametrize("action", [5, -1, 1.0, "BET", None, True])
def test_an_illegal_action_is_one_sentence_and_changes_nothing(action):
    env = aec("kuhn")
    env.reset(seed=1)
    before = env.observe(env.agent_selection)["text"]
    with pytest.raises(IllegalAction, match=r"player_0 cannot play .* now: its legal actions are 0 'PASS', 1 'BET'\."):
        env.step(action)
    assert env.observe(env.agent_selection)["text"] == before


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="did you mean kuhn"):
        aec("kuhm")
    with pytest.raises(BadParameter, match="make an AEC environment of it"):
        parallel("kuhn")
    with pytest.raises(BadParameter, match="leave one to an agent"):
        aec("kuhn", opponents={0: "random", 1: "random"})
    with pytest.raises(BadParameter, match="no seat 2"):
        aec("kuhn", opponents={2: "random"})
    with pytest.raises(WrongKind, match="a mapping from seats"):
        aec("kuhn", opponents=["random"])
    with pytest.raises(UnknownName, match="form of observations"):
        aec("kuhn", observation="pixels")
    with pytest.raises(BadParameter, match="no tensors"):
        aec("kuhn", observation="tensor")
    with pytest.raises(IllegalAction, match="call `reset` first"):
        aec("kuhn").observe("player_0")
    env = aec("kuhn", max_length=10)
    env.reset()
    with pytest.raises(BadParameter, match="more than `max_length`"):
        env.last()
    env = aec("kuhn")
    with pytest.raises(BadParameter, match="whole number"):
        env.reset(options={"deal": -1})
    env = aec("quiz(rounds=1)")
    env.reset()
    env.step(0)
    env.step(None)
    with pytest.raises(IllegalAction, match="call `reset` for the next one"):
        env.step(None)
    env = parallel("ipd(rounds=1)")
    env.reset()
    with pytest.raises(IllegalAction, match="player_1 has no action"):
        env.step({"player_0": 0})
    with pytest.raises(WrongKind, match="a mapping from agents to numbers"):
        env.step([0, 0])
    env.step({"player_0": 0, "player_1": 1})
    with pytest.raises(IllegalAction, match="call `reset` for the next one"):
        env.step({})


@pytest.mark.parametrize("text", ["kuhn", "auction(seats=3)", "tic-tac-toe", "connect-four"])
def test_environments_pass_the_audit_of_those_of_others(text):
    """`verify-game` on our own environments; where moves are numbers of OpenSpiel, every line of play is compared."""
    translation = TRANSLATIONS.get(f"pettingzoo:{text.replace('-', '_').replace('tic_tac_toe', 'tictactoe')}")
    game = ForeignGame(text, lambda: PettingZooEnvironment(aec(text)), translation)
    report = verify(game, rules=AUDIT, episodes=10)
    assert not report.failed, str(report)
    assert (report["rules"].outcome == "passed") == (text in ("tic-tac-toe", "connect-four"))

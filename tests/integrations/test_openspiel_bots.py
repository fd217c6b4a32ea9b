"""Our players in OpenSpiel's loop, and OpenSpiel's bots in ours: both pay what the same deals pay in `sg.play`."""

import pickle

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

import stratagem as sg
from stratagem.base.errors import BadParameter, CannotCompute, IllegalAction, UnknownName, WrongKind
from stratagem.connect.openspiel import bot, player
from stratagem.connect.session import deal_key
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Move
from stratagem.players.catalogue import make_player, patterns
from stratagem.players.uniform import Random

SEED = 4


class KeyedChance:
    """Generator for OpenSpiel's loop that draws what a table of ours draws."""

    def __init__(self, deal):
        self._key = deal_key(SEED, deal).at("chance")
        self._draws = 0

    def choice(self, outcomes, p):
        draw = self._key.at("chance", self._draws)
        self._draws += 1
        return outcomes[draw.integer(len(p)) if all(x == p[0] for x in p) else draw.choose(p)]


def in_openspiel(bots, spiel, deals):
    """Returns of deals in OpenSpiel's own loop."""
    return [list(evaluate_bots(spiel.new_initial_state(), bots, KeyedChance(deal))) for deal in range(deals)]


def in_ours(text, names, deals):
    episodes = sg.play(text, names, episodes=deals * len(names), seed=SEED, progress=False).episodes
    return [episode.payoffs for episode in episodes[:: len(names)]]


@pytest.mark.parametrize(
    ("text", "names", "deals"),
    [
        ("leduc", ("random", "cfr:20"), 200),
        ("kuhn-spiel", ("random", "ismcts:5"), 200),
        ("spiel:kuhn_poker(players=3)", ("random",) * 3, 200),
        ("goofspiel", ("random", "random"), 20),
        ("tic-tac-toe", ("mcts:20", "ismcts:5"), 10),
        ("pig", ("random", "noise(first-legal, p=0.5)"), 10),
    ],
)
def test_our_players_get_the_same_in_the_loop_of_openspiel(text, names, deals):
    bots = [bot(name, text, seat, seed=SEED) for seat, name in enumerate(names)]
    assert in_openspiel(bots, bots[0].spiel, deals) == in_ours(text, names, deals)


def test_a_hand_of_our_kuhn_is_that_of_openspiel():
    """Its cards are drawn otherwise, so the policies are compared: Kuhn 1950 gives -1/18 to the first player."""
    bots = [bot("NashApprox", "kuhn", seat) for seat in (0, 1)]
    node = pyspiel.load_game("kuhn_poker").new_initial_state()
    node.apply_action(1)
    node.apply_action(0)
    mine = make_game("kuhn").twin().view(node)
    policy = make_player("NashApprox", make_game("kuhn")).policy(mine)
    assert dict(bots[0].get_policy(node)) == {("PASS", "BET").index(action): p for action, p in policy.items()}
    returns = [pyspiel.evaluate_bots(bots[0].spiel.new_initial_state(), bots, seed)[0] for seed in range(100)]
    assert set(returns) <= {-2.0, -1.0, 1.0, 2.0}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("leduc", "openspiel:fixed_action_preference(actions=2:1:0)"),
        ("kuhn-spiel", "openspiel:fixed_action_preference(actions=1:0)"),
    ],
)
def test_a_bot_plays_in_our_loop_as_in_that_of_openspiel(text, name):
    spiel = make_game(text).twin().spiel
    text_of_bot = name.removeprefix("openspiel:")
    bots = [bot("random", text, 0, seed=SEED), pyspiel.load_bot(text_of_bot, spiel, 1)]
    wanted = in_ours(text, ("random", name), 200)
    assert [list(played(bots, spiel, deal)) for deal in range(200)] == wanted


def played(bots, spiel, deal):
    """OpenSpiel's loop without `restart_at`, which its bots in C++ do not offer to Python."""
    state, chance = spiel.new_initial_state(), KeyedChance(deal)
    bots[0].restart()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(chance.choice(*zip(*state.chance_outcomes(), strict=True)))
        else:
            state.apply_action(bots[state.current_player()].step(state))
    return state.returns()


@pytest.mark.parametrize("name", ["openspiel:uniform_random", "openspiel:uniform_random(seed=3)"])
def test_a_bot_that_mixes_comes_back_as_it_was(name):
    bots = [bot(name, "leduc", 0, seed=SEED), bot("random", "leduc", 1, seed=SEED)]
    assert in_openspiel(bots, bots[0].spiel, 200) == in_ours("leduc", (name, "random"), 200)


class Counting(pyspiel.Bot):
    """Bot with a state: it plays by the number of actions that it has seen, and draws from its seed."""

    def __init__(self, player_id, seed):
        pyspiel.Bot.__init__(self)
        self.player_id, self.seed = player_id, seed
        self.restart()

    def restart(self):
        self.seen, self.random = 0, np.random.RandomState(self.seed)

    def restart_at(self, state):
        self.restart()

    def inform_action(self, state, player_id, action):
        self.seen += 1

    def step(self, state):
        self.seen += 1
        legal = state.legal_actions(self.player_id)
        return legal[(self.seen + self.random.randint(2)) % len(legal)]


class Keyed(Counting):
    """The same bot with the seed that the table of a deal gives it."""

    def restart(self):
        self.deal = getattr(self, "deal", -2) + 1
        key = deal_key(SEED, max(0, self.deal))
        self.seed = key.at("episode", self.player_id, self.player_id).value % (2**31 - 1)  # its slot is its seat
        super().restart()


def test_a_bot_with_a_state_is_led_through_the_episode():
    ours = player(lambda spiel, seat, seed: Counting(seat, seed), "counting")
    bots = [Keyed(0, 0), bot("random", "leduc", 1, seed=SEED)]
    wanted = in_openspiel(bots, pyspiel.load_game("leduc_poker"), 200)
    assert in_ours("leduc", (ours, "random"), 200) == wanted


def test_bots_of_python_sit_at_our_tables():
    listed = player([UniformRandomBot(seat, np.random.RandomState(1)) for seat in (0, 1)], "theirs")
    made = player(lambda spiel, seat, seed: UniformRandomBot(seat, np.random.RandomState(seed)), "theirs")
    first = in_ours("leduc", (listed, "random"), 20)
    assert first == in_ours("leduc", (made, "random"), 20)  # a bot that states its policy is drawn from by key
    searching = player(lambda spiel, seat, seed: searcher(spiel, seed), "search")
    result = sg.play("tic-tac-toe", [searching, "random"], episodes=10, progress=False)
    assert [total.illegal_turns for total in result.totals()] == [0, 0]
    assert result.payoffs()["search@1"].mean > 0.5


def searcher(spiel, seed):
    return pyspiel.MCTSBot(spiel, pyspiel.RandomRolloutEvaluator(1, seed), 2.0, 50, 100, True, seed, False)


class Restless(Counting):
    """Bot that never does the same again."""

    calls = 0

    def step(self, state):
        Restless.calls += 1
        return state.legal_actions()[Restless.calls % 2]


class Illegal(Counting):
    """Bot that plays an action that is none."""

    def step(self, state):
        return 99


def test_faults_of_a_bot_are_data():
    restless = player(lambda spiel, seat, seed: Restless(seat, seed), "restless")
    episodes = sg.play("leduc", [restless, "first-legal"], episodes=20, progress=False).episodes
    said = {row.said for episode in episodes for row in episode.decisions if row.how == "error"}
    assert any("does not play the same again" in text for text in said)
    illegal = player([Illegal(0, 0), Illegal(1, 0)], "illegal")
    (decision, *_) = sg.play("leduc", [illegal, illegal], progress=False).episodes[0].decisions
    assert (decision.how, decision.said) == ("illegal", "illegal played 99, which is no legal action.")


class Silent(Random):
    """Player without a legal action."""

    def turn(self, ask):
        return Move(None)


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="There is no bot of OpenSpiel called 'uniform_randm': did you mean"):
        make_player("openspiel:uniform_randm", make_game("leduc"))
    with pytest.raises(BadParameter, match="opens a bracket and does not close it"):
        make_player("openspiel:uniform_random(", make_game("leduc"))
    for wrong in ("fixed_action_preference(action_list=0;1)", "fixed_action_preference(1)"):
        with pytest.raises(BadParameter, match=r"has one parameter: openspiel:fixed_action_preference\(actions=...\)"):
            make_player(f"openspiel:{wrong}", make_game("leduc"))
    with pytest.raises(BadParameter, match="The parameter `seed` of openspiel:uniform_random is a whole number"):
        make_player("openspiel:uniform_random(seed=x)", make_game("leduc"))
    assert make_player("openspiel:fixed_action_preference(actions=1)", make_game("leduc"))
    with pytest.raises(BadParameter, match="OpenSpiel cannot make the bot 'uniform_restricted_actions'"):
        make_player("openspiel:uniform_restricted_actions", make_game("leduc"))
    with pytest.raises(BadParameter, match="plays games that OpenSpiel has, and ipd is none of them"):
        make_player("openspiel:uniform_random", make_game("ipd"))
    with pytest.raises(BadParameter, match="OpenSpiel does not have ipd"):
        bot("TitForTat", "ipd", 0)
    with pytest.raises(BadParameter, match="has the seats 0 to 1"):
        bot("random", "leduc", 2)
    with pytest.raises(BadParameter, match="name the game spiel:kuhn_poker"):
        bot("mcts:10", "kuhn", 0)
    with pytest.raises(WrongKind, match="pyspiel"):
        player(3, "three")
    with pytest.raises(WrongKind, match=r"A bot of alone for player 1 is a `pyspiel\.Bot`, not NoneType"):
        sg.play("leduc", [player(pyspiel.make_uniform_random_bot(0, 1), "alone"), "random"], episodes=4, progress=False)
    mute = bot(Silent(), "leduc", 0)
    node = mute.spiel.new_initial_state().child(0).child(1)
    with pytest.raises(IllegalAction, match="OpenSpiel has no rule for that"):
        mute.step(node)
    with pytest.raises(CannotCompute, match="its probabilities are not read"):
        make_player("openspiel:uniform_random", make_game("leduc")).policy(make_game("leduc").start(Key(0)).view(0))


def test_a_registered_bot_goes_to_another_process():
    made = make_player("openspiel:fixed_action_preference(actions=2:1:0)", make_game("leduc"))
    there = pickle.loads(pickle.dumps(made))
    assert in_ours("leduc", (there, "random"), 5) == in_ours("leduc", (made, "random"), 5)


def test_bots_are_offered_where_openspiel_has_the_game():
    assert "openspiel:uniform_random" in patterns(make_game("leduc"))
    assert "openspiel:uniform_random" in patterns(make_game("kuhn"))
    assert "openspiel:uniform_random" not in patterns(make_game("ipd"))


def test_a_bot_plays_our_kuhn_hand_by_hand():
    names = ("openspiel:uniform_random", "random")
    result = sg.play("kuhn", names, episodes=40, progress=False)
    assert [total.illegal_turns for total in result.totals()] == [0, 0]
    assert len({row.action for episode in result.episodes for row in episode.decisions}) == 4

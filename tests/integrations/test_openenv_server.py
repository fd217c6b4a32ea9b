"""Our games behind a real OpenEnv server and its client; run by `make test-integrations`, skipped without OpenEnv."""

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter, IllegalAction, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.playthrough import golden
from stratagem.players.catalogue import make_player

pytest.importorskip("openenv")
from openenv.core import GenericEnvClient
from servers_of_openenv import serving

from stratagem.connect.openenv import GameAction, app, environment

DEALS = 200


@pytest.fixture(scope="module")
def address():
    """A server of Kuhn poker in this process."""
    with serving(app("kuhn(hands=2)", "NashApprox", seed=5)) as found:
        yield found


def expected(text, names, deals):
    episodes = sg.play(text, names, episodes=deals * len(names), seed=5, progress=False).episodes
    return episodes[:: len(names)]


def test_deals_pay_what_play_pays_through_the_server(address):
    """The client answers what the player of the same seat answered in `sg.play`."""
    with GenericEnvClient(base_url=address).sync() as client:
        for deal, episode in enumerate(expected("kuhn(hands=2)", ("random", "NashApprox"), DEALS)):
            result, paid = client.reset(deal=deal), 0.0
            for decision in episode.decisions:
                if decision.seat == 0:
                    assert not result.done
                    result = client.step({"message": f"I will.\n{decision.action}"})
                    assert result.observation["action"] == decision.action
                    paid += result.reward
            assert result.done
            assert paid == episode.payoffs[0]


@pytest.mark.parametrize(
    ("text", "seat", "names"),
    [("leduc", 1, ("random", "random")), ("auction(seats=3)", 1, ("Adaptive", "random", "FictitiousPlay"))],
)
def test_a_learner_in_any_seat_gets_what_play_pays(text, seat, names):
    opponents = [name for other, name in enumerate(names) if other != seat]
    env, player = environment(text, opponents, seat=seat, seed=5), make_player(names[seat], make_game(text))
    for episode in expected(text, names, DEALS):
        observed = env.reset()
        paid = observed.reward
        while not observed.done:
            move = player.turn(env.session.asks[seat])
            observed = env.step(GameAction(message=move.action))
            paid += observed.reward
        assert paid == episode.payoffs[seat]


def test_clients_have_episodes_of_their_own(address):
    with GenericEnvClient(base_url=address).sync() as one, GenericEnvClient(base_url=address).sync() as two:
        first, second = one.reset(seed=5), two.reset(seed=5)
        assert first.observation == second.observation
        one.step({"message": "BET"})
        assert (one.state()["step_count"], two.state()["step_count"]) == (1, 0)
        assert one.state()["episode_id"].endswith("/5/0")


def test_an_observation_asks_as_a_language_model_is_asked(address):
    with GenericEnvClient(base_url=address).sync() as client:
        seen = client.reset(seed=5).observation
        game = make_game("kuhn(hands=2)")
        assert seen["prompt"].startswith(f"{game.rules(0)}\n\nYour card is ")
        assert seen["prompt"].endswith("You may play: PASS, BET.")
        assert seen["legal"] == ["PASS", "BET"]
        seen = client.step({"message": "nonsense"}).observation
        assert seen["action"] is None  # and the default action of the game is played


def test_a_step_too_many_is_one_sentence(address):
    with GenericEnvClient(base_url=address).sync() as client:
        with pytest.raises(Exception, match="No episode has begun: call `reset` first"):
            client.step({"message": "BET"})
        client.reset()
        with pytest.raises(Exception, match="A deal is a whole number"):
            client.reset(deal="three")


@pytest.mark.parametrize("text", golden().values())
def test_every_game_has_a_seat_for_a_learner(text):
    env = environment(text, "random" if make_game(text).spec.seats > 1 else ())
    observed = env.reset(seed=2)
    while not observed.done:
        observed = env.step(GameAction(message=observed.legal[-1]))
    assert observed.legal == []
    with pytest.raises(IllegalAction, match="call `reset` for the next one"):
        env.step(GameAction(message=""))


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="did you mean kuhn"):
        app("kuhm", "random")
    with pytest.raises(BadParameter, match="kuhn has 1 other seats, and there are 0 opponents"):
        app("kuhn")
    with pytest.raises(BadParameter, match="has the seats 0 to 1, and not 2"):
        app("kuhn", "random", seat=2)
    with pytest.raises(BadParameter, match="The server needs `sessions` of at least 1"):
        app("kuhn", "random", sessions=0)
    with pytest.raises(BadParameter, match="A seed is a whole number"):
        app("kuhn", "random", seed="x")

"""Our games in TextArena's own loop; run by `make test-integrations`, skipped without TextArena."""

import random

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter, IllegalAction, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.playthrough import golden
from stratagem.players.catalogue import make_player

pytest.importorskip("textarena")
import textarena as ta

from stratagem.connect.textarena import env

DEALS = 200
MATCHES = {
    "kuhn": ("NashApprox", "Bluffer"),
    "auction(seats=3)": ("random", "Adaptive", "FictitiousPlay"),
    "negotiation-v2": ("MirrorNeg", "random"),
    "leduc": ("random", "cfr:20"),
    "goofspiel": ("random", "random"),
    "quiz": ("random",),
}


def play(wrapped, agents, num_players, **options):
    """TextArena's loop, as its README has it."""
    wrapped.reset(num_players=num_players, **options)
    done = False
    while not done:
        number, observation = wrapped.get_observation()
        done, _ = wrapped.step(action=agents[number](observation))
    return wrapped.close()


class Ours(ta.Agent):
    """Agent of TextArena that answers as one of our players."""

    def __init__(self, env, seat, player):
        self.env, self.seat, self.player = env, seat, player

    def __call__(self, observation):
        return f"I think about it.\n{self.player.turn(self.env.session.asks[self.seat]).action}"


@pytest.mark.parametrize("text", MATCHES)
def test_deals_pay_what_play_pays(text):
    names = MATCHES[text]
    episodes = sg.play(text, names, episodes=DEALS * len(names), seed=5, progress=False).episodes
    table, game = env(text, seed=5), make_game(text)
    agents = {seat: Ours(table, seat, make_player(name, game)) for seat, name in enumerate(names)}
    wrapped = ta.wrappers.LLMObservationWrapper(table)
    paid = [play(wrapped, agents, len(names))[0] for _ in range(DEALS)]
    assert [list(rewards.values()) for rewards in paid] == [episode.payoffs for episode in episodes[:: len(names)]]


def test_an_order_sheet_of_diplomacy_is_a_reply_of_several_lines():
    text = "diplomacy(until=1901)"
    table, game = env(text, opponents=dict.fromkeys(range(1, 7), "diplomacy/dumbbot")), make_game(text)
    agent = Ours(table, 0, make_player("random", game))
    rewards, infos = play(ta.wrappers.GameBoardObservationWrapper(table), {0: agent}, 1)
    names = ["random", *("diplomacy/dumbbot",) * 6]
    (episode, *_) = sg.play(text, names, episodes=7, progress=False).episodes
    assert rewards == {0: episode.payoffs[0]}
    assert infos[0]["invalid_move"] is False


class RandomWords(ta.Agent):
    """Agent that answers the last of the choices that it reads, or something else."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def __call__(self, observation):
        listed = observation.rpartition("You may play: ")[2].partition(".")[0]
        return self.random.choice([*listed.split(", "), "I pass on this one", ""])


@pytest.mark.parametrize("text", golden().values())
def test_every_game_ends_whatever_is_answered(text):
    seats = make_game(text).spec.seats
    rewards, infos = play(ta.wrappers.LLMObservationWrapper(env(text)), [RandomWords(s) for s in range(seats)], seats)
    assert list(rewards) == list(infos) == list(range(seats))


def test_an_illegal_reply_follows_the_rule_of_the_game():
    table = env("leduc")
    table.reset(num_players=2, seed=1)
    number, observation = table.get_observation()
    assert [kind for _, _, kind in observation] == [ta.ObservationType.PROMPT, ta.ObservationType.GAME_BOARD]
    done, info = table.step("I would rather not.")
    assert (done, info["action"]) == (False, None)  # leduc allows one more attempt
    again, observation = table.get_observation()
    assert again == number
    assert "Your reply named no legal action." in [text for _, text, _ in observation]
    done, _ = table.step("")
    rewards, infos = table.close()
    assert done
    assert rewards == {0: -13.0, 1: 13.0}
    assert (infos[0]["invalid_move"], infos[1]["invalid_move"]) == (True, False)


def test_turn_count_counts_a_turn_whose_attempts_were_all_illegal():
    _, infos = play(env("ipd(rounds=2)"), [lambda seen: "dance"] * 2, 2)
    assert [info["turn_count"] for info in infos.values()] == [2, 2]
    table = env("leduc")
    table.reset(num_players=2, seed=1)
    table.step("dance")
    assert table.close()[1][0]["turn_count"] == 0  # the second attempt belongs to the same turn
    table.step("raise")
    assert table.close()[1][0]["turn_count"] == 1


def test_the_wrapper_that_renders_shows_the_name_of_the_game(monkeypatch, capsys):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    play(ta.wrappers.SimpleRenderWrapper(env("kuhn(hands=1)")), [lambda seen: "PASS"] * 2, 2)
    assert "kuhn(hands=1)" in capsys.readouterr().out


def test_resets_do_not_seed_the_generator_of_the_process():
    random.seed(3)
    wanted = random.random()
    random.seed(3)
    env("kuhn").reset(num_players=2, seed=9)
    assert random.random() == wanted


def test_texts_are_those_of_the_seat_alone():
    table = env("kuhn(hands=1)")
    wrapped = ta.wrappers.LLMObservationWrapper(table)
    wrapped.reset(num_players=2, seed=1)
    cards = make_game("kuhn(hands=1)").start(Key(1).at("deal", 0).at("chance")).cards
    for seat in (0, 1):
        number, observation = wrapped.get_observation()
        assert number == seat
        assert f"Your card is {cards[seat]}." in observation
        assert f"Your card is {cards[1 - seat]}." not in observation
        wrapped.step("[PASS]")
    assert table.state.done


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="did you mean kuhn"):
        env("kuhm")
    table = env("kuhn", opponents={0: "random"})
    with pytest.raises(BadParameter, match="is for 1 players here, not 2"):
        table.reset(num_players=2)
    with pytest.raises(IllegalAction, match="call `reset` first"):
        env("kuhn").session  # noqa: B018
    with pytest.raises(BadParameter, match="A seed is a whole number"):
        env("kuhn").reset(num_players=2, seed=-1)
    table = env("kuhn(hands=1)")
    play(table, [lambda seen: "PASS"] * 2, 2)
    with pytest.raises(IllegalAction, match="call `reset` for the next one"):
        table.step("PASS")

"""Episodes answered from outside, without any package of others: numbers, slots, replies, opponents, deals."""

import sys
from importlib import import_module

import numpy as np
import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter, CannotCompute, IllegalAction, MissingExtra, UnknownName
from stratagem.connect.agents import Agents, Choosing, table_of
from stratagem.connect.session import Deals, ExternalAgent, Session, deal_key, match_of
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.guides import OneToken
from stratagem.language.engines.base import Call, PolicyId, Prompt, Request
from stratagem.language.engines.streaming import BatchEngine
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.uniform import Random

SEED = 5


def expected(text, names, deals):
    """Episodes of `sg.play` by deal, in the seating without rotation; it yields them as they end."""
    played = sg.play(text, names, episodes=deals * len(names), seed=SEED, progress=False).episodes
    ends = {episode.id.rpartition("/")[2]: episode for episode in played}
    return [ends[f"{deal}.0"] for deal in range(deals)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("kuhn", ("NashApprox", "Bluffer")),
        ("auction(seats=3, rounds=2)", ("random", "Adaptive", "FictitiousPlay")),
        ("leduc", ("random", "random")),
    ],
)
def test_agents_get_what_play_pays(text, names):
    table, deals = table_of(text, None, "bytes", 500), Deals(SEED)
    players = {f"player_{seat}": make_player(name, make_game(text)) for seat, name in enumerate(names)}
    for episode in expected(text, names, 20):
        agents = Agents(table, deals.session(table.match))
        paid = dict.fromkeys(players, 0.0)
        while not agents.session.over:
            agent = agents.to_act[0]
            agents.act(agent, agents.number_of(agent, players[agent]))
            for name, reward in agents.rewards().items():
                paid[name] += reward
        assert list(paid.values()) == episode.payoffs
        played = [(row.seat, row.info_key, row.action) for row in agents.session.episode.decisions]
        assert played == [(row.seat, row.info_key, row.action) for row in episode.decisions]


class Echo(BatchEngine):
    """Engine that answers each request with its prompt."""

    name = "echo"

    def answer(self, requests):
        return [Call(policy=PolicyId("echo"), prompt=r.prompt, text=r.prompt.messages[-1][1]) for r in requests]


class Speaking(Random):
    """Random player that has an engine say its action, in two requests."""

    traits = Traits(stochastic=True, exact=False)
    engine = Echo()
    name = "speaking"

    def turn(self, ask):
        for _ in range(2):
            prompt = Prompt((("user", ask.view.choices.sample(ask.key)),))
            call = yield Request(engine=self.engine, prompt=prompt, guide=OneToken(), key=ask.key)
        return Move(call.text, "free", (call,))


@pytest.mark.parametrize("text", ["kuhn", "auction(seats=3, rounds=2)"])
def test_opponents_that_ask_models_are_answered(text):
    seats = make_game(text).spec.seats
    others = {seat: Speaking() for seat in range(1, seats)}
    match, deals, player = match_of(make_game(text), others), Deals(SEED), Random()
    for episode in expected(text, (player, *others.values()), 5):
        session = deals.session(match)
        while not session.over:
            session.answer(0, player.turn(session.asks[0]).action)
        assert session.episode.payoffs == episode.payoffs
        assert sum(len(row.calls) for row in session.episode.decisions) > 0


def test_a_player_that_asks_models_gives_its_number():
    table = table_of("kuhn", None, "bytes", 500)
    agents = Agents(table, Deals(SEED).session(table.match))
    assert agents.number_of("player_0", Speaking()) == agents.number_of("player_0", Random())


def test_rewards_on_the_way_are_given_once():
    game = make_game("spiel:repeated_game(stage_game=matrix_pd(),num_repetitions=4)")
    session = Session(match_of(game, {}), Key(1), "x")
    given = []
    while not session.over:
        for seat, ask in session.asks.items():
            session.answer(seat, ask.view.choices.first)
        given.append(session.rewards())
    assert given == [(5.0, 5.0)] * 4
    assert session.episode.payoffs == [20.0, 20.0]
    assert session.rewards() == (0.0, 0.0)


class SheetAsk:
    """Question with a sheet as its choices."""

    def __init__(self, sheet):
        self.view = self
        self.choices = sheet


@pytest.mark.parametrize("fill", [1, 2, 3, None])
def test_a_sheet_is_filled_slot_by_slot_into_every_action(fill):
    sheet = Sheet(
        [Slot("one", ("a", "b")), Slot("two", ("b", "W")), Slot("three", ("W",)), Slot("four", ("c", "d"))], fill
    )
    made, waiting = set(), [()]
    while waiting:
        taken = waiting.pop()
        choosing, action = Choosing(SheetAsk(sheet)), None
        for option in taken:
            assert action is None
            action = choosing.take(option)
        if action is None:
            assert choosing.text.endswith(f"{sheet.slots[len(taken)].name}, {sheet.fill - sum(map(bool, taken))} to go")
            waiting += [(*taken, option) for option in choosing.options]
        else:
            made.add(action)
            assert sheet.canonical(filter(None, sheet.by_slot(action))) == action
    assert made == set(sheet)


def test_the_option_of_a_player_follows_its_sheet():
    sheet = Sheet([Slot("one", ("a", "b")), Slot("two", ("b", "c")), Slot("three", ("c", "d"))], 2)

    class Fixed(Random):
        def turn(self, ask):
            return Move("a\nd")

    choosing = Choosing(SheetAsk(sheet))
    taken = []
    while (action := choosing.take(taken.append(choosing.option_of(Fixed())) or taken[-1])) is None:
        pass
    assert (taken, action) == (["a", "", "d"], "a\nd")
    with pytest.raises(CannotCompute, match="has no legal action here"):
        Choosing(SheetAsk(Sheet([Slot("one", ("x",))]))).option_of(Fixed())


def test_a_reply_without_an_action_follows_the_rule_of_the_game():
    session = Deals(SEED).session(match_of(make_game("leduc"), {}))
    (seat,) = session.asks
    assert session.reply(seat, "<think>raise</think>I do not know.") is None
    assert list(session.asks) == [seat]  # one more attempt
    assert session.reply(seat, "") is None
    assert session.over
    assert session.rewards() == (-13.0, 13.0)
    assert [row.how for row in session.episode.decisions] == ["illegal", "illegal"]
    assert session.episode.num_illegal == [1, 0]
    session = Deals(SEED).session(match_of(make_game("kuhn"), {}))
    assert session.reply(0, "<think>I could\nBET") is None  # its thinking goes on; the default action is played
    assert session.reply(1, "<think>BET or PASS</think>I will\n**BET**") == "BET"


@pytest.mark.parametrize("number", [2, -1, 0.0, "0", None, True, np.float64(1.0)])
def test_an_illegal_number_changes_nothing(number):
    table = table_of("kuhn", None, "text", 500)
    agents = Agents(table, Deals(SEED).session(table.match))
    with pytest.raises(IllegalAction, match="its legal actions are 0 'PASS', 1 'BET'"):
        agents.act("player_0", number)
    with pytest.raises(IllegalAction, match="player_1 cannot play 0 now: its legal actions are none"):
        agents.act("player_1", 0)
    with pytest.raises(IllegalAction, match="player_1 has nothing to choose now: player_0 has"):
        agents.number_of("player_1", Random())
    with pytest.raises(UnknownName, match="There is no agent of kuhn called 'player_2': did you mean"):
        agents.observation("player_2")
    agents.act("player_0", np.int8(1))
    assert agents.to_act == ("player_1",)


def test_a_refusal_lists_some_of_many_actions():
    table = table_of("negotiation-v2", None, "text", 500)
    agents = Agents(table, Deals(SEED).session(table.match))
    with pytest.raises(IllegalAction, match=r"0 '\[0, 0, 0\]', .* and \d+ more\.$"):
        agents.act("player_0", -1)


def test_answers_out_of_turn_are_refused():
    session = Deals(SEED).session(match_of(make_game("kuhn(hands=1)"), {}))
    with pytest.raises(IllegalAction, match=r"Seat 1 has nothing to answer: the seats to act are \[0\]"):
        session.answer(1, "BET")
    with pytest.raises(IllegalAction, match="seat 0 cannot play 'CALL': it may play PASS, BET"):
        session.answer(0, "CALL")
    session.answer(0, "PASS")
    session.answer(1, "PASS")
    with pytest.raises(IllegalAction, match="the episode is over"):
        session.answer(0, "PASS")


def test_deals_go_on_from_the_last_seed():
    match, deals = match_of(make_game("kuhn"), {}), Deals(3)
    ids = [deals.session(match).episode.id for _ in range(2)]
    ids += [deals.session(match, seed=8).episode.id, deals.session(match).episode.id]
    ids += [deals.session(match, deal=7).episode.id, deals.session(match).episode.id]
    assert ids == ["kuhn/3/0", "kuhn/3/1", "kuhn/8/0", "kuhn/8/1", "kuhn/8/7", "kuhn/8/8"]
    assert deals.session(match, seed=8, deal=2).episode.key == deal_key(8, 2).value
    for wrong in (-1, 1.5, "2", True):
        with pytest.raises(BadParameter, match="is a whole number of at least 0"):
            deals.session(match, seed=wrong)
        with pytest.raises(BadParameter, match="is a whole number of at least 0"):
            deals.session(match, deal=wrong)


def test_probabilities_of_an_external_agent_are_not_known():
    with pytest.raises(CannotCompute, match="come from outside"):
        ExternalAgent().policy(make_game("kuhn").start(Key(0)).view(0))


def test_texts_keep_to_their_form():
    view = make_game("kuhn").start(Key(0)).view(0)
    table = table_of("kuhn", None, "text", 500)
    assert table.observing(view, "–\u202e\x1b") == f"{view.situation}\n\\u2013\\u202e\\x1b"
    table = table_of("kuhn", None, "bytes", 500)
    data = table.observing(view, "–")
    assert (data.shape, data.dtype) == ((500,), np.uint8)
    assert bytes(data).rstrip(b"\0").decode() == f"{view.situation}\n–"


@pytest.mark.parametrize("name", ["pettingzoo", "textarena", "openenv"])
def test_a_missing_package_is_named_with_its_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"stratagem.integrations.{name}", raising=False)
    with pytest.raises(MissingExtra, match=rf"needs an extra that is not installed: pip install -e '\.\[{name}\]'"):
        import_module(f"stratagem.integrations.{name}")

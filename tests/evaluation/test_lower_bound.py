"""Best responses by search: a lower bound on the exact figure, with honest beliefs."""

import pickle

import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.agent_model import AskedAgent, Frequencies, StatedPolicy, model_of
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.exploitability.learn import TabularExploiter, learned_bound
from stratagem.measure.exploitability.lower_bound import budgets, exploiter_of, player_bound, search_bound
from stratagem.measure.exploitability.measurement import check_exploiter
from stratagem.measure.exploitability.methods import read_method
from stratagem.measure.exploitability.search import Exploiter, consider_actions
from stratagem.players.base import Ask, Traits
from stratagem.players.beliefs import worlds
from stratagem.players.catalogue import make_player
from stratagem.players.search_state import DecisionSearch
from stratagem.players.uniform import Random
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups


@pytest.mark.parametrize(("measure", "budget"), [(search_bound, 40), (learned_bound, 400)])
@pytest.mark.parametrize(
    ("name", "agent", "least"),
    [("kuhn", "LooseAggressive", 0.8), ("auction(rounds=1)", "Truthful", 0.8)],
)
def test_search_approaches_the_best_response_and_stays_within_its_interval(name, agent, least, measure, budget):
    game = make_game(name)
    player = make_player(agent, game)
    figure = exact(game, player).exploitability
    bound = measure(game, player, Key(0), budget=budget, deals=40)
    assert [point.budget for point in bound.basis.curve] == budgets(budget)
    for point in bound.basis.curve:
        assert point.mean.low <= figure
    assert bound.exploitability > least * figure
    assert bound.nash_conv == pytest.approx(2 * bound.exploitability)
    assert bound.basis.model == StatedPolicy.kind


def test_nothing_is_gained_from_an_equilibrium():
    game = make_game("kuhn")
    bound = learned_bound(game, make_player("cfr:1000", game), Key(1), budget=1000, deals=200).estimate
    assert bound.low <= 0.0 <= bound.high


def test_an_exploiter_gains_exactly_what_a_sure_thing_gains():
    """Against a player that always defects nothing is better; against one that always cooperates defection is."""
    game = make_game("prisoners-dilemma(rounds=1)")
    for agent, gain in (("AlwaysDefect", 0.0), ("AlwaysCooperate", 2.0)):
        player = make_player(agent, game)
        expected = exact(game, player).exploitability
        assert search_bound(game, player, Key(0), budget=20, deals=3).exploitability == pytest.approx(expected)
        assert (expected > 0.0) == (gain > 0.0)


def asked(state, recall, key, *, seen=True):
    seat = state.to_act[0]
    return Ask(state.view(seat), key, 0, 0, 0, state if seen else None, recall=recall)


def facing_a_bet(key):
    """A hand of kuhn in which seat 1 holds the queen, and seat 0 has bet."""
    state = make_game("kuhn(hands=1)").start(key)
    while state.cards[1] != "Q":
        key = key.at("again")
        state = state.game.start(key)
    state.play({0: "BET"})
    return state


def test_beliefs_follow_from_the_agents_moves():
    """TightValue bets only the king as opener, so after its bet it holds the king; unseen, both cards are as likely."""
    state = facing_a_bet(Key(3))
    for agent, cards in (("TightValue", {"K"}), ("AlwaysBet", {"J", "K"})):
        exploiter = Exploiter(player := make_player(agent, state.game), StatedPolicy(player), 60)
        ask = asked(state, (), Key(5), seen=False)
        search = DecisionSearch(ask.view, ask.key, 60, reply=exploiter.model.draw)
        assert {world.cards[0] for world in worlds(ask, search, exploiter.simulations)} == cards
        assert exploiter.turn(ask).action == ("FOLD" if agent == "TightValue" else exploiter.turn(ask).action)


def test_an_exploiter_sees_no_cards():
    state = facing_a_bet(Key(3))
    player = make_player("LooseAggressive", state.game)
    for recall in ((), None):
        exploiter = Exploiter(player, StatedPolicy(player), 20)
        for seed in range(5):
            others = [state.resample(1, Key(number)) for number in range(4)]
            assert len({exploiter.turn(asked(other, recall, Key(seed))).action for other in others}) == 1


def test_an_exploiter_plays_the_same_in_another_process():
    game = make_game("kuhn(hands=1)")
    agent = make_player("random", game)
    first = Exploiter(agent, model_of(game, agent), 5)
    episodes = []
    for player in (first, pickle.loads(pickle.dumps(first))):
        episodes += play_setups([Setup(id="one", match=Match(game, [player, agent]), slots=(0, 1), key=Key(4))])
    assert [row.action for row in episodes[0].decisions] == [row.action for row in episodes[1].decisions]
    assert episodes[0].finished


class Talker(Random):
    """Answers by way of requests, and states nothing."""

    traits = Traits(stochastic=True, exact=False)

    def turn(self, ask):
        move = super().turn(ask)
        return move
        yield


def test_an_agent_is_known_by_its_policy_else_by_its_moves_else_by_its_record():
    game = make_game("kuhn(hands=1)")
    assert isinstance(model_of(game, make_player("AlwaysBet", game)), StatedPolicy)
    assert isinstance(model_of(game, make_player("ismcts:3", game)), AskedAgent)
    assert model_of(game, Talker()) is None
    bound = search_bound(game, Talker(), Key(0), budget=10, deals=4)
    assert bound.basis.model == Frequencies.kind


def test_frequencies_are_those_of_the_record():
    game = make_game("kuhn(hands=1)")
    agent = make_player("AlwaysBet", game)
    match = Match(game, [agent, agent])
    setups = [Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(50)]
    model, state = Frequencies(play_setups(setups)), game.start(Key(1))
    moves = [model.draw(state, 0, Key(n)) for n in range(100)]
    assert moves.count("BET") > 90


def test_of_many_actions_a_few_are_considered_with_the_agents_first():
    state = make_game("negotiation-v2").start(Key(0))
    agent = make_player("FairNeg", state.game)
    few = consider_actions(StatedPolicy(agent), 5, state, 0)
    assert few[0] in agent.policy(state.view(0))
    assert len(few) <= 5
    assert set(few) <= set(state.view(0).choices)
    assert list(consider_actions(StatedPolicy(agent), 500, state, 0)) == list(state.view(0).choices)


def test_changes_of_a_sheet_are_sheets():
    state = make_game("diplomacy(until=1901)").start(Key(0))
    agent = make_player("dumbbot", state.game)
    sheets = consider_actions(AskedAgent(agent), 6, state, 0)
    assert all(sheet in state.view(0).choices for sheet in sheets)
    lines = [sheet.split("\n") for sheet in sheets]
    assert all(sum(a != b for a, b in zip(lines[0], other, strict=True)) == 1 for other in lines[1:])


def test_budgets_grow_by_threes():
    assert budgets(300) == [10, 30, 100, 300]
    assert budgets(250) == [10, 30, 100, 250]
    assert budgets(1) == [1]


@pytest.mark.parametrize("measure", [search_bound, learned_bound])
def test_what_cannot_be_bounded_is_one_sentence(measure):
    kuhn = make_game("kuhn")
    for game, budget, deals, sentence in (
        (kuhn, 0, 10, "`budget` of at least 1"),
        (kuhn, -1, 10, "`budget` of at least 1"),
        (kuhn, 1, 1, "`deals` of at least 2"),
        (make_game("quiz"), 1, 10, "one seat"),
    ):
        with pytest.raises(BadParameter, match=sentence):
            measure(game, make_player("random", game), Key(0), budget=budget, deals=deals)
    agent = make_player("AlwaysBet", kuhn)
    with pytest.raises(CannotCompute, match="counted, not computed"):
        Exploiter(agent, StatedPolicy(agent), 1).policy(kuhn.start(Key(0)).view(0))
    with pytest.raises(BadParameter, match="sees what is hidden"):
        player_bound(kuhn, agent, Key(0), exploiter="mcts:2")


def test_a_person_is_no_exploiter():
    game = make_game("kuhn")
    with pytest.raises(BadParameter, match="a human takes a seat in `stratagem play`"):
        exploiter_of("human", game)


@pytest.mark.parametrize(("by", "sentence"), [("mcts:2", "sees what is hidden"), ("human", "a human takes a seat")])
def test_an_exploiter_is_refused_before_anything_is_played(by, sentence):
    with pytest.raises(BadParameter, match=sentence):
        check_exploiter(by, make_game("kuhn"))


def test_methods_are_named_in_any_case():
    assert read_method(" Search ") == ("search", 100)
    assert read_method("Learn(deals=7)") == ("learn", 7)
    assert read_method("AlwaysBet") is None


def test_a_tabular_exploiter_plays_its_table_and_else_as_the_agent():
    state = facing_a_bet(Key(3))
    agent = make_player("AlwaysBet", state.game)
    learnt = TabularExploiter(agent, {(1, state.view(1).info_key): "FOLD"}, 1)
    assert learnt.turn(asked(state, None, Key(0), seen=False)).action == "FOLD"
    assert TabularExploiter(agent, {}, 1).turn(asked(state, None, Key(0), seen=False)).action == "CALL"
    with pytest.raises(CannotCompute, match="falls back"):
        learnt.policy(state.view(1))


def test_any_player_can_be_the_exploiter():
    """AlwaysBet gains from a player that folds too often, and less than the best response."""
    game = make_game("kuhn")
    bound = player_bound(game, make_player("TightPassive", game), Key(0), exploiter="AlwaysBet", deals=60)
    assert bound.exploitability > 0.0
    assert bound.estimate.low <= exact(game, make_player("TightPassive", game)).exploitability

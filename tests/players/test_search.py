"""Search at play time: what it improves, what it may see, and what it refuses."""

from dataclasses import dataclass

import pytest

from stratagem.base.errors import BadParameter, CannotCompute, StratagemError
from stratagem.games.abilities import TimedState
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame, MatrixState
from stratagem.players.base import Ask, Move, Player, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.edits import change_action
from stratagem.players.rollouts import Rollouts
from stratagem.players.search import RolloutSearch
from stratagem.players.uniform import Random
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

NAMES = [
    ("tic-tac-toe", "search(random, num_edits=2)"),
    ("kuhn", "search(kuhn/NashApprox, random, num_candidates=3, opponents=[kuhn/AlwaysBet, random])"),
    ("kuhn", "search(random, num_chance_draws=2, rollout_player=noise(kuhn/TightValue, p=0.1))"),
    ("diplomacy", "search(diplomacy/dumbbot, num_candidates=2, horizon_phases=3)"),
]


def decide(player, state, key, recall=None):
    seat = state.to_act[0]
    return player.turn(Ask(state.view(seat), key, seat, 0, 0, state, recall=recall)).action


def mean_payoff(game, player, other, episodes, seed=7):
    match, seats = Match(game, [player, *[other] * (game.spec.seats - 1)]), game.spec.seats
    setups = (
        Setup(id=str(n), match=match, slots=tuple((s - n) % seats for s in range(seats)), key=Key(seed).at(n // seats))
        for n in range(episodes)
    )
    return sum(episode.payoffs[episode.seat_of(0)] for episode in play(list(setups))) / episodes


@pytest.mark.parametrize(("game", "name"), NAMES)
def test_search_has_a_name_that_makes_it_again(game, name):
    player = make_player(name, make_game(game))
    assert isinstance(player, Player)
    assert player.name == name
    assert not player.traits.exact
    with pytest.raises(CannotCompute, match="counted, not computed"):
        player.policy(make_game(game).start(Key(0)).view(0))


@pytest.mark.parametrize(
    ("game", "name", "other", "least"),
    [
        ("tic-tac-toe", "search(random, num_chance_draws=4)", "random", 0.6),
        ("kuhn(hands=1)", "search(random, opponents=AlwaysBet)", "AlwaysBet", 0.2),
        ("prisoners-dilemma", "search(random)", "random", -1.2),
    ],
)
def test_search_improves_random_play(game, name, other, least):
    """Against AlwaysBet the best response in kuhn earns 1/3 chip a hand: it calls with the king, and with the queen."""
    made = make_game(game)
    other = make_player(other, made)
    assert mean_payoff(made, make_player(name, made), other, 40) >= least
    assert mean_payoff(made, make_player("random", made), other, 40) < least


def test_search_takes_the_win_in_one_and_stops_that_of_the_other():
    game = make_game("tic-tac-toe")
    for moves, wanted in ((("A1", "A2", "B1", "B2"), "C1"), (("A1", "C3", "B1"), "C1")):
        state = game.start(Key(0))
        for move in moves:
            state.play({state.to_act[0]: move})
        assert decide(make_player("search(random, num_chance_draws=20, num_edits=9)", game), state, Key(5)) == wanted


def test_a_search_follows_from_its_key_and_leaves_the_state_alone():
    state = make_game("leduc").start(Key(3))
    player, before = make_player("search(random, num_chance_draws=2)", state.game), state.dump()
    actions = [decide(player, state, Key(seed)) for seed in range(12)]
    assert actions == [decide(player, state, Key(seed)) for seed in range(12)]
    assert len(set(actions)) > 1
    assert state.dump() == before


def decisions_by_world(game, *, recalled):
    """Numbers of different actions where only the cards of others differ, with the same key."""
    player, numbers = make_player("search(random, num_chance_draws=3, num_edits=2)", game), []
    for seed in range(12):
        state = game.start(Key(seed))
        state.play({state.to_act[0]: state.view(state.to_act[0]).choices.first})
        seat = state.to_act[0]
        worlds = [state.resample(seat, Key(n)) for n in range(6)]
        numbers.append(len({decide(player, world, Key(seed), () if recalled else None) for world in worlds}))
    return numbers


@pytest.mark.parametrize("recalled", [True, False])
@pytest.mark.parametrize("name", ["kuhn(hands=1)", "leduc"])
def test_search_sees_no_cards(name, recalled):
    assert set(decisions_by_world(make_game(name), recalled=recalled)) == {1}


@pytest.mark.parametrize("recall", [None, ()], ids=["redrawn", "filtered"])
@pytest.mark.parametrize("text", ["kuhn", "pig"])
def test_every_rollout_has_a_future_of_its_own(text, recall):
    """And none of them is that of the game; what is hidden differs between them, too."""
    batches = []

    class Noting(Random):
        def plays_on(self, batch):
            batches.append(batch)

    state = make_game(text).start(Key(3))
    search = RolloutSearch(players=(Noting(),), num_chance_draws=8)
    decide(search, state, Key(5), recall)
    states = [world.state for world in batches[0].worlds]
    assert len({one.chance for one in states} - {state.chance}) == 8
    if text == "kuhn":
        assert {one.cards[0] for one in states} == {state.cards[0]}
        assert len({one.cards[1] for one in states}) == 2


def test_opponents_of_each_seat_are_drawn_apart():
    batches = []

    class Noting(Random):
        def plays_on(self, batch):
            batches.append(batch)

    search = RolloutSearch(players=(Noting(),), opponents=(Random(), Random()), num_chance_draws=12)
    decide(search, make_game("public-goods(seats=3, rounds=2)").start(Key(3)), Key(5))
    assert {row[1] is row[2] for row in batches[0].players} == {True, False}


def predicted_moves(belief, state, draws=6):
    """Return the moves of the others in the worlds of a search with this belief about them."""
    game, seat = state.game, state.to_act[0]
    text = f"search(diplomacy/dumbbot, num_chance_draws={draws}, horizon_phases=1, opponents={belief})"
    rollouts = Rollouts(make_player(text, game), state.view(seat))
    rollouts.meet(Ask(state.view(seat), Key(5), seat, 0, 0, state))
    return [world.moves for world in rollouts.worlds]


def test_a_belief_that_is_the_truth_predicts_a_deterministic_bot_exactly():
    game = make_game("diplomacy(until=1901)")
    state, hold = game.start(Key(0)), make_player("hold", game)
    others = state.to_act[1:]
    truth = {other: hold.turn(Ask(state.view(other), Key(1), other, 0, 0, state)).action for other in others}
    assert predicted_moves("hold", state) == [truth] * 6
    wrong = predicted_moves("diplomacy/dumbbot", state)
    assert not any(moves[other] == truth[other] for moves in wrong for other in others)


def test_a_mixed_belief_predicts_each_seat_by_one_of_its_players():
    state = make_game("diplomacy(until=1901)").start(Key(0))
    mixed = predicted_moves("[hold, diplomacy/dumbbot-greedy]", state)
    alone = [predicted_moves(name, state) for name in ("hold", "diplomacy/dumbbot-greedy")]
    of_first = [moves[s] == first[s] for moves, first in zip(mixed, alone[0], strict=True) for s in moves]
    of_second = [moves[s] == second[s] for moves, second in zip(mixed, alone[1], strict=True) for s in moves]
    assert [not first for first in of_first] == of_second
    assert 8 < sum(of_first) < 28, "36 seats in six worlds, each drawn by its own key"


def test_worlds_of_a_later_decision_come_from_every_world_before():
    """Else after one more action the seat would be sure of what the other holds."""
    batches = []

    class Noting(Random):
        def plays_on(self, batch):
            batches.append(batch)

    state = make_game("kuhn(hands=1)").start(Key(3))
    recall = ((state.view(0).info_key, "PASS"),)
    for seat, action in enumerate(("PASS", "BET")):
        state.play({seat: action})
    decide(RolloutSearch(players=(Noting(),), num_chance_draws=12), state, Key(5), recall)
    assert len({world.state.cards[1] for world in batches[0].worlds}) == 2


def test_a_planted_leak_of_cards_is_found(monkeypatch):
    """A redraw that keeps the true cards shows in the decisions."""
    monkeypatch.setattr("stratagem.players.base.Ask.redraw_state", lambda ask, chance: ask.peek().fork(chance))
    assert max(decisions_by_world(make_game("kuhn(hands=1)"), recalled=False)) > 1


def test_the_belief_follows_from_the_opponents_play():
    """TightValue opens with a bet only if it holds the king: the queen then folds, which calls against AlwaysBet."""
    game, key = make_game("kuhn(hands=1)"), Key(3)
    state = game.start(key)
    while state.cards[1] != "Q":
        key = key.at("again")
        state = game.start(key)
    state.play({0: "BET"})
    for opponent, action in (("TightValue", "FOLD"), ("AlwaysBet", "CALL")):
        player = make_player(f"search(random, num_chance_draws=40, opponents={opponent})", game)
        assert decide(player, state, Key(5), ()) == action


def has_state(ask):
    try:
        return bool(ask.redraw_state(Key(0)))
    except CannotCompute:
        return False


class Asked(Random):
    """Random play that notes where it is asked, and with what."""

    def __init__(self, log, traits=Traits(stochastic=True)):  # noqa: B008 - never changed
        self.log, self.traits = log, traits

    def turn(self, ask):
        self.log.append((ask.view.seat, ask.turn, ask.key, has_state(ask)))
        return super().turn(ask)


def test_candidates_meet_common_random_numbers():
    """The other seat draws with equal keys in the rollouts of all candidates, and other ones in each draw."""

    log, state = [], make_game("tic-tac-toe").start(Key(0))
    search = RolloutSearch(
        players=(Random(),), opponents=(Asked(log),), num_candidates=4, num_chance_draws=3, num_edits=0
    )
    decide(search, state, Key(1))
    first = [key for seat, turn, key, _ in log if turn == 1]
    assert len(first) > 3
    assert len(set(first)) == 3


def test_players_inside_get_the_state_only_if_they_declare_it():

    log, state = [], make_game("leduc").start(Key(0))
    decide(RolloutSearch(players=(Asked(log),), num_chance_draws=2), state, Key(1))
    assert log
    assert not any(shown for *_, shown in log)


def test_equal_candidates_leave_the_choice_of_the_first_player():
    game = make_game("matrix(payoffs=[[[1,1],[1,1]],[[1,1],[1,1]]], labels=[C,D], rounds=1)")
    for seed in range(10):
        state = game.start(Key(seed))
        assert decide(make_player("search(random)", game), state, Key(seed)) == decide(Random(), state, Key(seed))


@pytest.mark.parametrize(("first", "played"), [(0, [4, 4, 4]), (1, [4, 1, 2]), (2, [4, 4, 2]), (100, [4, 4, 4])])
def test_candidates_behind_after_the_first_draws_are_dropped(first, played):
    """The first candidate has all draws; the others are compared on the same draws, after one, two, four rollouts."""

    returns = {"A": [1.0, 0.0, 1.0, 0.0], "B": [0.0, 1.0, 1.0, 1.0], "C": [1.0, -1.0, 9.0, 9.0]}

    class Known:
        played = 0

        def returns(self, action, which):
            self.played += len(returns[action][which])
            return returns[action][which]

    search, counts = RolloutSearch(players=(Random(),), num_first_draws=first), [4]
    for action in "BC":
        known = Known()
        found = search.returns_if_better(known, action, returns["A"])
        assert found == (returns[action] if known.played == 4 else None)
        counts.append(known.played)
    assert counts == played


def test_a_horizon_stops_rollouts():
    """With a horizon of one phase no player of a rollout is asked again."""

    state = make_game("diplomacy(until=1901)").start(Key(0))
    logs = []
    for phases in (1, 3):  # after the moves of spring there is a phase of retreats
        log = []
        player = RolloutSearch(
            players=(Asked(log),), num_candidates=2, num_edits=1, num_chance_draws=1, horizon_phases=phases
        )
        action = decide(player, state, Key(1))
        assert action in state.view(0).choices
        logs.append({turn for _, turn, *_ in log})
    assert logs == [{0}, {0, 1}]


class TickingState(MatrixState, TimedState):
    """A round is a unit of time, and no position counts as an end."""

    __slots__ = ()

    def standing(self):
        return None


@dataclass(frozen=True, kw_only=True)
class Ticking(MatrixGame):
    state = TickingState


@pytest.mark.parametrize("phases", [1, 2, 3])
def test_a_rollout_stops_when_the_clock_reaches_its_horizon(phases):
    """Where a turn is a unit of time, a rollout over n phases has n turns, the candidate's own among them."""

    log, game = [], Ticking(payoffs=[[(1, 0), (0, 1)], [(0, 1), (1, 0)]], rounds=6)
    search = RolloutSearch(
        players=(Asked(log),), num_candidates=8, num_edits=0, num_chance_draws=1, horizon_phases=phases
    )
    decide(search, game.start(Key(0)), Key(1))
    assert {turn for _, turn, *_ in log} == set(range(phases))


def test_requests_of_a_proposer_go_to_the_scheduler():
    """A player that waits for an answer can propose; it cannot play a rollout."""

    class Waits(Random):
        traits = Traits(stochastic=True, exact=False)

        @property
        def name(self):
            return "waits"

        def turn(self, ask):
            return self.later(ask)

        def later(self, ask):
            answer = yield "request"
            return Move(answer if answer in ask.view.choices else None)

        def strategy(self, view):
            raise CannotCompute("It waits.")

    game = make_game("tic-tac-toe")
    state = game.start(Key(0))
    player = RolloutSearch(
        players=(Waits(),), opponents=(Random(),), rollout_player=Random(), num_edits=0, num_candidates=2
    )
    turn = player.turn(Ask(state.view(0), Key(1), 0, 0, 0, state))
    assert next(turn) == "request"
    assert turn.send("nonsense") == "request"
    with pytest.raises(StopIteration) as stop:
        turn.send("B2")
    assert stop.value.value.action == "B2"
    with pytest.raises(BadParameter, match="cannot wait for waits: name a scripted `rollout_player`"):
        RolloutSearch(players=(Waits(),)).check(game)


@pytest.mark.parametrize(
    ("game", "name", "sentence"),
    [
        ("kuhn", "search", r"write search\(PLAYER\)"),
        ("kuhn", "search()", r"write search\(PLAYER\)"),
        ("kuhn", "search(random, num_first_draws=-1)", "`num_first_draws` of at least 0"),
        ("kuhn", "search(random, num_candidates=0)", "`num_candidates` of at least 1"),
        ("kuhn", "search(random, num_edits=many)", "`num_edits` of at least 0, a whole number, not 'many'"),
        (
            "kuhn",
            "search(random, draws=3)",
            "search has no option draws; its options are num_candidates, num_edits, num_",
        ),
        ("kuhn", "search(mcts:10)", "mcts:10 looks at hidden information"),
        ("kuhn", "search(random, opponents=mcts:10)", "mcts:10 looks at hidden information"),
        ("kuhn", "search(random, rollout_player=[random, random])", "has one `rollout_player`"),
        ("kuhn", "search(random, horizon_phases=2)", "leave `horizon_phases` at 0"),
        ("kuhn", "search(human)", "a person cannot be one of them"),
        ("kuhn", "search(dumbbot)", "no player of kuhn"),
        ("kuhn", "delay(search(random))", "looks at the table itself"),
    ],
)
def test_wrong_searches_are_one_sentence(game, name, sentence):
    with pytest.raises(StratagemError, match=sentence):
        make_player(name, make_game(game))


def test_changed_keeps_all_lines_of_a_sheet_but_one():
    sheet = Sheet([Slot(str(n), tuple(f"{n} {word}" for word in "ABC")) for n in range(4)])
    builds = Sheet([Slot(city, (f"{city} BUILD", "WAIVE")) for city in ("X", "Y", "Z")], fill=2)
    seen = set()
    for n in range(60):
        action = change_action(sheet.first, sheet, Key(n))
        assert action in sheet
        assert sum(a != b for a, b in zip(action.split("\n"), sheet.first.split("\n"), strict=True)) <= 1
        seen.add(change_action(builds.first, builds, Key(n)))
    assert seen <= set(builds)
    assert "Y BUILD\nZ BUILD" in seen | {change_action("X BUILD\nY BUILD", builds, Key(n)) for n in range(60)}
    flat = Flat(["A", "B", "C"])
    assert {change_action("A", flat, Key(n)) for n in range(30)} == {"B", "C"}
    assert change_action("A", Flat(["A"]), Key(0)) == "A"

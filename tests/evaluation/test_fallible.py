"""Players that may say nothing legal: what they state, how it is asked for, and that exact figures agree with play."""

import math
from dataclasses import dataclass, field
from statistics import fmean, stdev
from types import SimpleNamespace

import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat
from stratagem.games.key import Key
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.best_response import best_response
from stratagem.measure.expectation import expected_payoffs
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.policies import Policies, stated_policies
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

MIX = {"PASS": 0.5, "BET": 0.2}


@dataclass(frozen=True)
class Shaky:
    """Plays a mixture that lacks something of one; without one given, of the first two actions."""

    mix: dict | None = field(default=None, hash=False)
    fallible: bool = True
    price: int = 1
    name: str = "shaky"

    @property
    def traits(self):
        return Traits(stochastic=True, memory=None, fallible=self.fallible, price=self.price)

    def policy(self, view):
        return dict(zip(view.choices, MIX.values(), strict=True)) if self.mix is None else self.mix

    def turn(self, ask):
        mix = self.policy(ask.view)
        action = [*mix, None][ask.key.choose([*mix.values(), 1.0 - sum(mix.values())])]
        return Move(action, "free" if action else "illegal")


def view_of(game, retries=None):
    view = make_game(game).start(Key(1)).view(0)
    if retries is None:
        return view
    spec = SimpleNamespace(retries=retries, name=game)
    return SimpleNamespace(choices=Flat(("PASS", "BET")), info_key="here", game=SimpleNamespace(spec=spec))


# --- what is stated


@pytest.mark.parametrize("retries", [0, 1, 2, 5])
def test_whoever_is_asked_again_says_more(retries):
    """Each attempt is a draw of its own: chances add up over them, and nothing is said where all of them fail."""
    (said,) = stated_policies(Shaky(), [view_of("kuhn", retries)])
    none = 0.3 ** (retries + 1)
    assert said == pytest.approx({"PASS": (1 - none) * 5 / 7, "BET": (1 - none) * 2 / 7, None: none})


def test_what_lacks_nothing_or_everything():
    assert stated_policies(Shaky({"PASS": 0.25, "BET": 0.75}), [view_of("kuhn")]) == [{"PASS": 0.25, "BET": 0.75}]
    assert stated_policies(Shaky({"PASS": 0.0, "BET": 0.0}), [view_of("kuhn")]) == [{None: 1.0}]
    assert stated_policies(Shaky({}), [view_of("kuhn")]) == [{None: 1.0}]
    assert stated_policies(Shaky({"PASS": 1.0, "BET": 0.0}), [view_of("kuhn")]) == [{"PASS": 1.0}]


@pytest.mark.parametrize(
    ("mix", "fallible"),
    [
        (MIX, False),
        ({"PASS": 0.7, "BET": 0.4}, True),
        ({"PASS": 0.7, "FLY": 0.1}, True),
        ({"PASS": 1.2, "BET": -0.4}, True),
        ({"PASS": math.nan, "BET": 0.2}, True),
        ({None: 0.5, "BET": 0.2}, True),
    ],
    ids=str,
)
def test_what_is_no_mixture_is_refused(mix, fallible):
    with pytest.raises(CannotCompute, match=r"shaky states .* which is no mixture of legal actions"):
        stated_policies(Shaky(mix, fallible), [view_of("kuhn")])


class Together(Shaky):
    """States many situations at once, as `answer` says."""

    def __init__(self, answer):
        super().__init__(price=40)
        object.__setattr__(self, "answer", answer)

    def policies(self, views):
        return self.answer(views)


def test_many_situations_are_stated_at_once():
    asked = []
    player = Together(lambda views: asked.append(len(views)) or [MIX] * len(views))
    assert len(stated_policies(player, [view_of("kuhn")] * 5)) == 5
    assert asked == [5]


def fails(error):
    def answer(views):
        raise error

    return answer


def test_what_a_player_does_wrong_is_one_sentence():
    views = [view_of("kuhn")] * 2
    with pytest.raises(CannotCompute, match=r"shaky raised 'KeyError: 3' when asked for its probabilities"):
        stated_policies(Together(fails(KeyError(3))), views)
    with pytest.raises(CannotCompute, match=r"^take mode=direct\.$"):
        stated_policies(Together(fails(BadParameter("take mode=direct."))), views)
    with pytest.raises(CannotCompute, match="shaky raised 'ValueError"):
        stated_policies(Together(lambda views: [MIX]), views)


# --- dear players are asked ahead


def asking(counts):
    """A dear player that notes how many situations it is asked about at a time."""

    def answer(views):
        counts.append(len({(view.seat, view.info_key) for view in views}))
        assert counts[-1] == len(views)
        return [dict.fromkeys(view.choices, 0.5) for view in views]

    return Together(answer)


def test_a_layer_of_situations_is_asked_about_at_once():
    counts, game = [], make_game("kuhn(hands=1)")
    dear = asking(counts)
    expected_payoffs(game, [dear, dear], 100_000)
    assert 1 < len(counts) <= 4
    assert sum(counts) == 12  # three cards: what was done before is nothing, PASS, BET, or PASS BET
    half = []
    expected_payoffs(game, [asking(half), make_player("random", game)], 100_000)
    assert sum(half) == 6


def test_the_seat_of_the_responder_is_not_asked():
    counts, game = [], make_game("kuhn(hands=1)")
    dear = asking(counts)
    players = [dear, dear]
    policies, states = Policies(game, players, 100_000), [game.start(Key(n)) for n in range(12)]
    policies.prepare(states, but=0)
    assert counts == []
    policies.prepare(states)
    assert counts == [3]
    assert policies.budget == 100_000 - 3 * dear.traits.price
    policies.prepare(states)
    assert counts == [3]
    for state in states:
        assert policies.mix(state, 0) == {"PASS": 0.5, "BET": 0.5}
    assert counts == [3]


def test_cheap_players_are_asked_as_they_come():
    game = make_game("kuhn(hands=1)")
    cheap = Together(fails(AssertionError("nobody asks for many at once")))
    object.__setattr__(cheap, "price", 1)
    policies = Policies(game, [cheap, cheap], 10)
    policies.prepare([game.start(Key(0))])
    assert policies.budget == 10


def test_dear_players_use_up_the_budget():
    game = make_game("kuhn(hands=1)")
    with pytest.raises(CannotCompute, match="too large to be computed exactly"):
        expected_payoffs(game, [asking([]), asking([])], 300)


# --- against play


def agree(game, players, episodes):
    """Hold the expectation of both seats against played episodes, to four standard errors; say the share of nothing."""
    made = make_game(game) if isinstance(game, str) else game
    match = Match(made, players)
    setups = (setup for setup in rotate_seats(match, 2 * episodes, Key(8), name="t") if setup.slots == (0, 1))
    played = list(play(setups, detail=False))
    assert len(played) >= episodes
    said = expected_payoffs(made, players, 1_000_000)
    for seat in (0, 1):
        sums = [episode.payoffs[seat] for episode in played]
        rounds = fmean(len(episode.rounds) for episode in played)
        assert abs(fmean(sums) / rounds - said.per_round(seat)) < 4.0 * stdev(sums) / math.sqrt(len(sums)) / rounds
    return sum(sum(e.num_illegal) for e in played) / sum(sum(e.num_decisions) for e in played)


@pytest.mark.parametrize(("game", "nothing"), [("kuhn(hands=1)", 0.3), ("kuhn-spiel", 0.09)])
def test_retries_in_exact_figures_are_those_of_play(game, nothing):
    made = make_game(game)
    found = agree(game, [Shaky(), make_player("random", made)], 3000)
    assert 0.2 * nothing < found < nothing


@pytest.fixture(scope="module")
def engine():
    """Tiny, made to say C or D more often than not, and otherwise whatever it likes."""
    lm = load("tiny")
    bias = {lm.encode(label)[0]: weight for label, weight in (("C", 7.0), ("D", 6.0))}

    def lean(module, inputs, output):
        for token, weight in bias.items():
            output[..., token] += weight
        return output

    lm.model.get_output_embeddings().register_forward_hook(lean)
    return TransformersEngine(lm)


@pytest.fixture
def model(engine):
    return ModelPlayer(name="model", speaker=Speaker(engine=engine, style=make_style("shapellm-state")), mode="single")


@pytest.mark.parametrize("other", ["itself", "TitForTat"])
def test_a_single_token_player_is_worth_what_it_states(model, other):
    """With mass on what is no action; ShapeLLM's state prompt looks one round back, so situations merge."""
    game = make_game("ipd-shapellm(rounds=4)")
    players = [model, model if other == "itself" else make_player(other, game)]
    nothing = agree(game, players, 400)
    mixes = [sum(model.policy(game.start(Key(0)).view(seat)).values()) for seat in (0, 1)]
    assert all(0.2 < legal < 0.95 for legal in mixes)
    assert 0.02 < nothing < 0.8


def test_its_best_response_and_exploitability_can_be_had(model):
    game = make_game("ipd-shapellm(rounds=2)")
    figures = exact(game, model)
    responses = [best_response(game, model, seat).payoff / 2 for seat in (0, 1)]
    assert figures.gains == pytest.approx([best - own for best, own in zip(responses, figures.values, strict=True)])
    assert min(figures.gains) > 0.0

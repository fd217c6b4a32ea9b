"""A message that pays more than another in its place is credited so: at each seat, weight and nesting of estimators.

In the games one seat speaks, and the reader answers a promise by its own best action. The sum of the payoffs is 0, so
the return of the other seat has the wrong sign.
"""

from dataclasses import dataclass, fields
from itertools import product

import numpy as np
import pytest
from two_actions import OPTIMIZER

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.reinforce import REINFORCERecipe, SelfPlayCollector
from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.advantages.base import Decisions
from stratagem.learn.advantages.catalogue import ESTIMATORS
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.collector import merge
from stratagem.training.message_branches import play_branches
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.rollouts import decision_columns, round_payoffs, select_decisions

pytestmark = pytest.mark.runs

RIGHT = np.array([True, False, False, False])
NESTING = sorted(name for name, make in ESTIMATORS.items() if any(one.name == "of" for one in fields(make())))
WEIGHTED = sorted(name for name, make in ESTIMATORS.items() if any(one.name == "weights" for one in fields(make())))
OWN = {"gae", "message_effect", "per_order"}
"""Estimators that read what is known of the seat alone, so `advantage_alignment` refuses them within it."""


def of_others_too(chain):
    """True if all that is within `advantage_alignment` can estimate the advantages of the others."""
    return "advantage_alignment" not in chain or not OWN & set(chain[chain.index("advantage_alignment") :])


OF_GROUPS = ("group_mean", "per_round", "rloo")
"""Estimators that compare with the mean of a group; the others know what is usual from elsewhere."""
CHAINS = [
    (*outer, leaf)
    for length in (1, 2)
    for outer in product(NESTING, repeat=length)
    for leaf in WEIGHTED
    if "message_effect" in outer and of_others_too((*outer, leaf))
]
"""Estimators within estimators, from the outside to the inside."""
DIRECTIONS = ((1.0, -3.0, 1), (1.0, -0.3, -1), (1.0, 3.0, -1), (-1.0, 0.3, 1), (-1.0, 3.0, -1), (0.0, -1.0, 1))
"""Weights of the payoff and of the penalty, and the sign of the step towards the right action."""


def nested(chain, weights, **options):
    """Make the estimators of a chain; the weights are those of the innermost."""
    *outer, leaf = chain
    made = ESTIMATORS[leaf](weights=weights)
    for name in reversed(outer):
        made = ESTIMATORS[name](of=made, **(options if name == "message_effect" else {}))
    return made


def rows(message):
    """Four decisions: the right one has the least payoff and no penalty, and what is usual lies between."""
    zeros, usual = np.zeros(4, dtype=np.int64), {"payoff": np.full(4, -5.25), "exploit": np.full(4, 0.75)}
    return Decisions(
        episode=np.arange(4), group=zeros, round=zeros, role=zeros, roles=("first",), value=zeros,
        weight=np.ones(4), message=np.full(4, message), silenced=usual, redrawn=usual,
        terms={"payoff": np.where(RIGHT, -6.0, -5.0), "exploit": np.where(RIGHT, 0.0, 1.0)},
        others={"payoff": np.where(RIGHT, 0.0, 9.0), "exploit": np.zeros(4)},
    )  # fmt: skip


def step(advantage):
    """Measure the change of the right action's logit from even ones."""
    return float((advantage * (RIGHT - 0.5)).sum())


def test_every_estimator_with_an_estimator_or_with_weights_is_tried():
    assert NESTING == ["advantage_alignment", "message_effect", "per_order", "scaled", "whitened"]
    assert not any(of_others_too(("advantage_alignment", name)) for name in OWN)
    for name in OWN:
        with pytest.raises(BadParameter, match="known of the seat alone"):
            nested(("advantage_alignment", *([name, "rloo"] if name in NESTING else [name])), {"payoff": 1.0})
    assert WEIGHTED == ["gae", "group_mean", "per_round", "rloo", "role_baseline"]
    assert set(OF_GROUPS) < set(WEIGHTED)


@pytest.mark.parametrize("instead", ["silence", "alternatives"])
@pytest.mark.parametrize("chain", CHAINS, ids="/".join)
def test_weights_inside_give_the_direction_of_a_message(chain, instead):
    for payoff, penalty, sign in DIRECTIONS:
        estimator = nested(chain, {"payoff": payoff, "exploit": penalty}, counterfactual=instead)
        assert sign * step(estimator(rows(True)).advantage) > 0.1, (payoff, penalty)


@pytest.mark.parametrize("chain", [chain for chain in CHAINS if chain[-1] in OF_GROUPS], ids="/".join)
def test_weights_inside_give_the_direction_of_a_move(chain):
    for payoff, penalty, sign in DIRECTIONS:
        estimator = nested(chain, {"payoff": payoff, "exploit": penalty})
        assert sign * step(estimator(rows(False)).advantage) > 0.1, (payoff, penalty)


@pytest.mark.parametrize("leaf", WEIGHTED)
def test_penalty_of_a_message_is_no_reward(leaf):
    """A message pays half a point more than silence and costs 5: its advantage is `0.5 - 5`, not `0.5 + 5`."""
    decisions = Decisions(
        episode=[0, 1], group=[0, 0], round=[0, 0], role=[0, 0], roles=("first",), value=[0, 0], message=[True, True],
        terms={"payoff": [1.0, 0.0], "exploit": [5.0, 0.0], "unused": [7.0, 0.0]},
        silenced={"payoff": [0.5, 0.0], "exploit": [0.0, 0.0], "unused": [0.0, 0.0]},
    )  # fmt: skip
    estimate = nested(("message_effect", leaf), {"payoff": 1.0, "exploit": -1.0})(decisions)
    assert estimate.advantage.tolist() == [-4.5, 0.0]
    if estimate.term_advantages:
        assert {name: share.tolist() for name, share in estimate.term_advantages.items()} == {
            "payoff": [0.5, 0.0],
            "exploit": [-5.0, 0.0],
        }


@pytest.mark.parametrize("chain", [("scaled", "message_effect", "rloo"), ("message_effect", "scaled", "rloo")])
def test_scaled_payoff_is_compared_with_what_silence_paid_in_one_unit(chain):
    """Payoffs of 10, 12 and 14 have the std 2, and silence pays 11 each time: -1, 1 and 3 are divided by 2."""
    decisions = Decisions(
        episode=[0, 1, 2], group=[0, 0, 0], round=[0, 0, 0], message=[True, True, True],
        terms={"payoff": [10.0, 12.0, 14.0]}, silenced={"payoff": [11.0, 11.0, 11.0]},
    )  # fmt: skip
    advantage = nested(chain, {"payoff": 1.0})(decisions).advantage
    assert advantage.tolist() == pytest.approx([-0.5, 0.5, 1.5], rel=1e-6)


SPEAKER = np.array([[1, 0], [0, 9]])
"""Payoff of the speaker by its own action and the reader's. A promised H is answered by T, and a promised T by H."""
LURE, PLAIN, SILENT = "I will play H", "I will play T", "SILENT"


def talk_of(seat):
    """Return a zero-sum game of one round in which one seat speaks."""
    paid = SPEAKER if seat == 0 else -SPEAKER.T
    cells = ", ".join("[" + ", ".join(f"({value}, {-value})" for value in row) + "]" for row in paid.tolist())
    return f"talk(matrix(payoffs=[{cells}], labels=(H, T), rounds=1), who=[{seat}], intents=[move])"


@dataclass(frozen=True)
class Says:
    """Says one message, another one where its draws are redrawn, and makes one move."""

    first: str
    other: str
    move: str
    table: Key
    traits = Traits()
    name = "says"

    def turn(self, ask):
        if ask.view.game.silence(ask.view.facts) is None:
            return Move(self.move)
        first = Ask(ask.view, self.table, ask.slot, ask.turn, ask.attempt, None)
        return Move(self.first if ask.key == first.key else self.other)


def credited(seat, move, chain, weights, instead):
    """Return the advantage of each message of a seat that then makes this move, with PLAIN as the alternative."""
    game, key, lines = make_game(talk_of(seat)), Key(5), (LURE, PLAIN, SILENT)
    reader, slots = make_player("believer(first-legal)", game), (0, 1) if seat == 0 else (1, 0)
    setups = [
        Setup(id=line, match=Match(game, [Says(line, PLAIN, move, key), reader]), slots=slots, key=key, group="one")
        for line in lines
    ]
    episodes, estimator = play_setups(setups), nested(chain, weights, counterfactual=instead)
    plays = [(setup, episode, (0,)) for setup, episode in zip(setups, episodes, strict=True)]
    branches = play_branches(estimator.columns, plays, 1)
    selected = select_decisions(episodes)
    advantage = estimator(
        decision_columns(selected, episodes, {"payoff": round_payoffs}, branches, others=True)
    ).advantage
    return {
        row.decision.action: value for row, value in zip(selected, advantage.tolist(), strict=True)
        if row.decision.action in lines
    }  # fmt: skip


@pytest.mark.parametrize("instead", ["silence", "alternatives"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(("move", "gain"), [("T", 9.0), ("H", -1.0)])
def test_message_is_credited_with_the_return_of_its_speaker(seat, move, gain, instead):
    """The lure makes the reader play T instead of H: that pays a speaker who plays T, and costs one who plays H."""
    for leaf, weight in product(("group_mean", "per_round", "rloo", "role_baseline"), (1.0, -2.0)):
        found = credited(seat, move, ("message_effect", leaf), {"payoff": weight}, instead)
        assert found == {LURE: weight * gain, PLAIN: 0.0, SILENT: 0.0}, leaf


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("outer", [name for name in NESTING if name not in ("message_effect", "per_order")])
def test_message_of_each_seat_keeps_its_direction_in_other_estimators(outer, seat):
    for (move, sign), weight, inside in product((("T", 1), ("H", -1)), (1.0, -2.0), (True, False)):
        names = ("message_effect", outer) if inside or outer == "advantage_alignment" else (outer, "message_effect")
        found = credited(seat, move, (*names, "rloo"), {"payoff": weight}, "silence")
        assert sign * weight * (found[LURE] - found[PLAIN]) > 0.1, (move, weight, inside)


COLLECTORS = {
    "grpo": (GRPORecipe, {"groups_per_batch": 2, "group_size": 16, "opponents": {"believer(first-legal)": 1.0}}),
    "sepo": (SEPORecipe, {"groups_per_batch": 2, "group_size": 16, "penalty_credit": "none"}),
    "reinforce": (REINFORCERecipe, {"episodes_per_batch": 96}),
}
"""Algorithms that know an advantage of messages, with small batches in which the policy has each seat."""


def collecting(stage, game_text, **changed):
    """Return an untrained policy, and what plays a game for it."""
    recipe_type, settings = COLLECTORS[stage]
    recipe = recipe_type.read({
        "games": [game_text], "temperature": 1.0, stage: {**settings, **changed},
        **({"pools": {"train": ["believer(first-legal)"]}} if stage == "sepo" else {}),
    })  # fmt: skip
    trained, game = policy_of(recipe, load("tiny")), make_game(game_text)
    own = (recipe.stage, game, trained.player, Key(2))
    if stage == "sepo":
        return trained, SEPOCollector(*own, own_pools=recipe.pools_of(game))
    if stage == "grpo":
        return trained, BranchedRollouts(*own, OpponentPool(recipe.grpo, game, trained.player))
    return trained, SelfPlayCollector(*own)


@pytest.mark.parametrize("instead", ["silence", "alternatives"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("stage", COLLECTORS)
def test_algorithm_credits_a_message_with_the_return_of_its_speaker(stage, seat, instead):
    """Worked out again from the payoffs of the recorded branches."""
    _, collector = collecting(stage, talk_of(seat), advantage=f"message_effect(of=rloo, counterfactual={instead})")
    episodes, seen = {episode.id: episode for episode in collector.collect(0).episodes}, []
    for episode in episodes.values():
        for decision in episode.decisions if episode.purpose == "train" else ():
            if decision.advantage is not None and decision.action in (LURE, PLAIN, SILENT):
                own = f"{episode.id}~{decision.turn}.{decision.seat}."
                others = [branch.payoffs[seat] for name, branch in episodes.items() if name.startswith(own)]
                usual = np.mean(others) if others else episode.payoffs[seat]
                assert decision.seat == seat
                assert decision.advantage == pytest.approx(episode.payoffs[seat] - usual)
                seen.append(decision.advantage)
    assert any(seen)


@pytest.mark.parametrize("instead", ["silence", "alternatives"])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("weight", [1.0, -1.0])
def test_step_raises_the_message_that_pays_its_speaker(seat, weight, instead):
    """The lure pays an untrained speaker on average; with a negative weight of the payoff the step goes back."""
    settings = {"advantage": f"message_effect(of=rloo, counterfactual={instead})", "reward_weights": {"payoff": weight}}
    loss = {"type": "policy_gradient", "entropy_coef": 0.0}
    trained, collector = collecting("grpo", talk_of(seat), optimizer=OPTIMIZER, group_size=64, loss=loss, **settings)
    view = make_game(talk_of(seat)).start(Key(0)).view(seat)
    before = dict(trained.player.policy(view))[LURE]
    trained.update_weights(merge([collector.collect(0)]).examples)
    assert weight * (dict(trained.player.policy(view))[LURE] - before) > 1e-4

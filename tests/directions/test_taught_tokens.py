"""Which tokens of a reply are in the loss mask: those that were drawn, and neither forced nor prompt tokens."""

from collections import Counter

import pytest
import torch

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.sepo.algorithm import SEPOCollector
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.language.prompting.base import ChatMessage
from stratagem.learn.example import example_from_call, example_from_demonstration
from stratagem.training.branched_rollouts import BranchedRollouts
from stratagem.training.collector import merge
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.sft import example_of_demonstration

pytestmark = pytest.mark.runs

SPELT = "matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), (1, 1)]], labels=(XYLEM, QUARTZ), rounds=1, cooperative=True)"
"""Its actions are words of several tokens, of which all but the first follow from it."""


def a_call():
    """Two tokens of prompt; a sampled token, two forced ones, a sampled one, and a token taken by arg-max."""
    return Call(
        policy=PolicyId("base"),
        prompt=Prompt((), (1, 2)),
        text="abcde",
        tokens=(10, 11, 12, 13, 14),
        spans=(Span("sampled", 0, 1), Span("forced", 1, 3), Span("sampled", 3, 4), Span("argmax", 4, 5)),
        sampler_logprobs=(-0.1, 0.0, 0.0, -0.4, 0.0),
        allowed=((10, 20), None, None, (13, 23), (14,)),
        sampling=Sampling(temperature=0.7),
    )


def test_example_from_call_masks_all_but_sampled_tokens():
    example = example_from_call(a_call(), advantage=2.0)
    assert example.tokens == (1, 2, 10, 11, 12, 13, 14)
    assert [example.tokens[place] for place in example.loss_positions] == [10, 13]
    assert example.allowed == ((10, 20), (13, 23))
    assert example.columns == {"sampler_logprobs": (-0.1, -0.4), "advantage": (2.0, 2.0)}
    assert example.temperature == 0.7


def test_example_from_demonstration_masks_the_prompt():
    example = example_from_demonstration((1, 2, 3), (10, 11), weight=0.5)
    assert example.tokens == (1, 2, 3, 10, 11)
    assert [example.tokens[place] for place in example.loss_positions] == [10, 11]
    assert example.row == {"weight": 0.5}


def test_demonstrated_replies_end_with_the_end_token():
    engine = TransformersEngine(load("tiny"))
    example = example_of_demonstration(engine, [ChatMessage("user", "Choose.")], "DEFECT")
    assert example.tokens[-1] == engine.vocabulary.end
    assert example.loss_positions[-1] == len(example.tokens) - 1
    assert engine.vocabulary.decode([example.tokens[place] for place in example.loss_positions[:-1]]) == "DEFECT"


def by_sepo(agent, game):
    return SEPOCollector(SEPORecipe.read({"games": [SPELT], "sepo": {"groups_per_batch": 1}}).sepo, game, agent, Key(0))


def by_grpo(agent, game):
    settings = GRPORecipe.read({"games": [SPELT], "grpo": {"groups_per_batch": 2}}).grpo
    return BranchedRollouts(settings, game, agent, Key(0), OpponentPool(settings, game, agent))


@pytest.mark.parametrize("collector", [by_sepo, by_grpo])
def test_collected_examples_teach_drawn_tokens_alone(collector):
    """Every token of the mask had an alternative, and a learner finds the very probability that it was drawn with."""
    recipe = SEPORecipe.read({"games": [SPELT], "sepo": {"loss": {"kl_estimator": "none", "kl_coef": 0.0}}})
    trained, game = policy_of(recipe, load("tiny")), make_game(SPELT)
    collected = collector(trained.player, game).collect(0)
    examples = merge([collected]).examples
    spans = [span for e in collected.episodes for row in e.decisions for call in row.calls for span in call.spans]
    sizes = Counter()
    for span in spans:
        sizes[span.kind] += span.end - span.start
    assert sizes["forced"] > 0, "the labels are chosen for their forced tokens"
    assert sum(len(one.loss_positions) for one in examples) == sizes["sampled"]
    assert all(len(some) > 1 for one in examples for some in one.allowed)
    drawn = torch.tensor([value for one in examples for value in one.columns["sampler_logprobs"]])
    assert torch.allclose(trained.learner.outputs(examples).logprobs, drawn, atol=1e-4)

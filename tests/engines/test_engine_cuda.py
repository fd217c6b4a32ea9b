"""On a GPU the engine gives what it gives on the processor, to tolerance; skipped where there is none."""

import pytest
import torch
from numbered import FREE, Steps, asked
from plainly import disturb

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import PolicyNode, Request, ScoreRequest
from stratagem.language.engines.graphed_step import GraphedStep
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.fused_norms import FusedNorm
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.speaker import Speaker

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
FAMILIES = ("tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5")


def speakers(family):
    style = make_style("plain")
    engines = [TransformersEngine(load(family, device=device, dtype="fp32")) for device in ("cpu", "cuda")]
    return [Speaker(engine=engine, style=style) for engine in engines]


def views(number):
    game = make_game("kuhn")
    return [state.view(state.to_act[0]) for state in (game.start(Key(seed)) for seed in range(number))]


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_agree(family):
    found = []
    for device, speaker in zip(("cpu", "cuda"), speakers(family), strict=True):
        fused = any(isinstance(module, FusedNorm) for module in speaker.engine.lm.model.modules())
        assert fused == (device == "cuda")
        asks = (PolicyNode((), tuple(range(200)), masked=False),)
        requests = [ScoreRequest(prompt=speaker.prompt(view), nodes=asks) for view in views(8)]
        found.append(torch.tensor(speaker.engine.score(requests)))
    assert torch.allclose(*found, atol=1e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_replies_agree(family):
    replies = []
    for speaker in speakers(family):
        requests = []
        for number, view in enumerate(views(64)):
            prompt = speaker.prompt(view)
            requests.append(speaker.ask(prompt, speaker.free(view.choices, prompt), Key(number), 16))
        assert isinstance(requests[0], Request)
        replies.append([call.tokens for call in speaker.engine.answer(requests)])
    same = sum(one == other for one, other in zip(*replies, strict=True))
    assert same >= 60


@pytest.mark.parametrize("packed", [0, 4096])
@pytest.mark.parametrize("family", FAMILIES[:3])
def test_long_replies_under_adapters_agree(family, packed):
    """Passes of one token a row are CUDA graphs here; the same graph is used under many lengths, rows and adapters."""
    replies = []
    for device in ("cpu", "cuda"):
        lm = load(family, device=device, dtype="fp32")
        for seed, name in enumerate(("one", "two"), 1):
            add_adapter(lm, name, rank=2, alpha=8)
            disturb(lm, name, seed)
        engine = TransformersEngine(lm, TransformersSettings(packed_weights_mib=packed))
        names = ("", "one", "two")
        steps = [Steps([FREE] * (60 + number % 50)) for number in range(40)]
        requests = [asked(engine, number, adapter=names[number % 3], guide=one) for number, one in enumerate(steps)]
        replies.append([call.tokens for call in engine.answer(requests)])
        assert device == "cpu" or "each text by itself" not in lm.reading["rollouts"]
    agreed = [same(one, other) / len(one) for one, other in zip(*replies, strict=True)]
    assert sum(agreed) / len(agreed) > 0.8


def same(one, other):
    """Number of tokens up to the first that differs; near-ties may fall differently, and nothing is the same after."""
    return next((at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]), len(one))


def test_step_by_graph_is_the_step():
    """A graph that is run again gives the logits of the plain pass, to rounding."""
    lm = load("tiny", device="cuda", dtype="fp32")
    engine = TransformersEngine(lm)
    step = engine.reader.step
    assert isinstance(step, GraphedStep)
    requests = [asked(engine, number, guide=Steps([FREE] * 30)) for number in range(9)]
    first = engine.answer(requests)
    assert step.works
    assert step.passes
    step.works = False
    engine.reset_cache()
    again = engine.answer([asked(engine, number, guide=Steps([FREE] * 30)) for number in range(9)])
    for call, other in zip(first, again, strict=True):
        assert call.tokens == other.tokens
        assert call.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-3)

"""On a GPU the engine gives what it gives on the processor, to tolerance; skipped where there is none."""

import pytest
import torch

from stratagem.engines.base import Node, Request, ScoreRequest
from stratagem.engines.transformers_engine import TransformersEngine
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.models.load import load
from stratagem.players.speaker import Speaker
from stratagem.prompting.catalogue import make_style

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
    for speaker in speakers(family):
        asks = (Node((), tuple(range(200)), masked=False),)
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

"""A pack that is read as a trunk and rows says what plain passes say, gradients through the trunk included."""

import pytest
import torch
from test_policy import by_policy, examples, gradients, plainly

from stratagem.learning import policy as policy_module
from stratagem.learning.example import Example
from stratagem.learning.packing import pack_examples, read
from stratagem.learning.policy import Policy
from stratagem.learning.prefix_batch import prefix_batch, tree_batch_cost
from stratagem.learning.tree_batch import tree_batch
from stratagem.models.load import load


@pytest.fixture(scope="module", params=["tiny", "tiny-qwen", "tiny-gemma"])
def lm(request):
    made = load(request.param)
    made.model.requires_grad_(True)
    yield made
    made.model.requires_grad_(False)
    made.model.zero_grad(set_to_none=True)


def prompts(number=12, shared=120, own=30):
    """As a seat meets them in a trial: long rules, then counts of its own."""
    rules = [(7 * place * place + 3) % 1500 for place in range(shared)]
    texts = [[*rules, *((11 * n * place + n) % 1500 for place in range(own))] for n in range(number)]
    return [
        Example(tokens=(*text, 5), loss_positions=(len(text),)) for text in (*texts, texts[3], texts[0][: shared + 4])
    ]


@pytest.mark.parametrize("kind", ["prompts", "any"])
def test_values_and_gradients_are_those_of_plain_passes(lm, kind, monkeypatch):
    """Whatever the trees are like: those that would rather be read side by side are read as bushes, too."""
    read_as_bushes = []

    def noted(*args):
        read_as_bushes.append(args)
        return read_prefix_batch(*args)

    read_prefix_batch = policy_module.read_prefix_batch
    monkeypatch.setattr(policy_module, "read_prefix_batch", noted)
    if kind == "any":
        monkeypatch.setattr(policy_module, "tree_batch_cost", lambda _: float("inf"))
    made = prompts() if kind == "prompts" else examples(4, number=14)
    policy = Policy(lm)
    assert policy.prefix_batches
    found = by_policy(policy, made)
    weights = torch.linspace(-1.0, 1.0, found.numel()).reshape(found.shape)
    ours = gradients(lm, (found * weights).sum())
    assert len(read_as_bushes) >= 2, "the probe, and these"
    plain = torch.cat([plainly(lm, example) for example in made])
    theirs = gradients(lm, (plain * weights).sum())
    assert torch.allclose(found, plain, atol=1e-4)
    for name, grad in theirs.items():
        assert torch.allclose(ours[name], grad, atol=1e-4 * max(1.0, grad.abs().max().item())), name


def test_every_token_of_a_pack_has_its_place():
    for made in (prompts(), examples(4, number=14)):
        (pack,) = pack_examples(made, 4096)
        grown = prefix_batch(pack)
        width, depth = grown.width, len(grown.prefix)
        cells = [*grown.prefix, *(token for row in grown.rows for token in (*row, *(-1,) * (width - len(row))))]
        assert [cells[place] for place in grown.indices] == list(pack.tokens)
        for number, nodes in zip(pack.examples, pack.nodes, strict=True):
            text = read(made[number])
            stands = grown.indices[list(nodes)].tolist()
            assert stands[:depth] == list(range(min(depth, len(text))))
            last = (stands[-1] - depth) // width if stands[-1] >= depth else None
            assert last is None or grown.rows[last][: len(text) - depth] == text[depth:]


def test_what_is_cheaper_is_taken():
    """Many rows behind long rules are a bush; a few tokens that differ are cheaper in one pass."""
    (many,) = pack_examples(prompts(40), 4096)
    assert prefix_batch(many).cost < tree_batch_cost(tree_batch(many))
    (few,) = pack_examples(prompts(4, own=5), 4096)
    assert prefix_batch(few).cost > tree_batch_cost(tree_batch(few))


def test_a_single_text_and_texts_that_share_nothing_are_no_bush():
    alone = [Example(tokens=(1, 2, 3), loss_positions=(2,))]
    assert prefix_batch(pack_examples(alone, 100)[0]) is None
    assert prefix_batch(pack_examples([*alone, Example(tokens=(5, 2, 3), loss_positions=(2,))], 100)[0]) is None


def test_without_activations_kept_packs_are_read_side_by_side():
    lm = load("tiny")
    assert not Policy(lm, gradient_checkpointing=True).prefix_batches

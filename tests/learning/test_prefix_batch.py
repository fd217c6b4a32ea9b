"""A pack that is read as a trunk and rows says what plain passes say, gradients through the trunk included."""

import pytest
import torch
from test_policy import by_policy, examples, gradients, plainly

from stratagem.language.models.load import load
from stratagem.learn import policy as policy_module
from stratagem.learn.example import Example
from stratagem.learn.packing import pack_examples, read
from stratagem.learn.pass_sizes import PackSizes, shape_of_pack
from stratagem.learn.policy import Policy
from stratagem.learn.prefix_batch import prefix_batch


@pytest.fixture(scope="module", params=["tiny", "tiny-qwen", "tiny-gemma"])
def lm(request):
    made = load(request.param)
    made.model.requires_grad_(True)
    yield made
    made.model.requires_grad_(False)
    made.model.zero_grad(set_to_none=True)


def prompts(number=5, shared=120, own=30, rule=3):
    """As a seat meets them in a trial: long rules, then counts of its own."""
    rules = [(7 * place * place + rule) % 1500 for place in range(shared)]
    texts = [[*rules, *((11 * n * place + n) % 1500 for place in range(own))] for n in range(number)]
    return [
        Example(tokens=(*text, 5), loss_positions=(len(text),)) for text in (*texts, texts[-1], texts[0][: shared + 4])
    ]


@pytest.mark.parametrize("kind", ["prompts", "several prompts", "any"])
def test_values_and_gradients_are_those_of_plain_passes(lm, kind, monkeypatch):
    """Whatever the trees are like: those that are cheaper side by side, as these few are, are read as bushes, too."""
    read_as_bushes = []

    def noted(*args):
        read_as_bushes.append(args)
        return read_prefix_batch(*args)

    read_prefix_batch = policy_module.read_prefix_batch
    monkeypatch.setattr(policy_module, "read_prefix_batch", noted)
    monkeypatch.setattr(PackSizes, "tree_cost", float("inf"))
    several = [*prompts(), *prompts(3, shared=90, rule=5), *prompts(1, own=9, rule=8)]
    made = {"prompts": prompts(), "several prompts": several, "any": examples(4, number=8)}[kind]
    policy = Policy(lm)
    assert policy.prefix_batches
    read_as_bushes.clear()
    found = by_policy(policy, made)
    weights = torch.linspace(-1.0, 1.0, found.numel()).reshape(found.shape)
    ours = gradients(lm, (found * weights).sum())
    assert read_as_bushes
    plain = torch.cat([plainly(lm, example) for example in made])
    theirs = gradients(lm, (plain * weights).sum())
    assert torch.allclose(found, plain, atol=1e-4)
    for name, grad in theirs.items():
        assert torch.allclose(ours[name], grad, atol=1e-4 * max(1.0, grad.abs().max().item())), name


def test_every_token_of_a_pack_has_its_place():
    for made in (prompts(), examples(4, number=14), [*prompts(4), *prompts(3, shared=40, rule=5), *prompts(1, rule=9)]):
        (pack,) = pack_examples(made, 4096)
        batch = prefix_batch(pack)
        width, depth = batch.width, batch.depth
        cells = [*flat(batch.prefixes, depth), *flat(batch.rows, width)]
        assert [cells[place] for place in batch.indices] == list(pack.tokens)
        for number, nodes in zip(pack.examples, pack.nodes, strict=True):
            text = read(made[number])
            stands = batch.indices[list(nodes)].tolist()
            tree = stands[0] // depth
            own = len(batch.prefixes[tree])
            assert stands[:own] == list(range(tree * depth, tree * depth + min(own, len(text))))
            row = (stands[-1] - len(batch.prefixes) * depth) // width
            assert row < 0 or (batch.trees[row], batch.rows[row][: len(text) - own]) == (tree, text[own:])


def flat(rows, width):
    return [token for row in rows for token in (*row, *(-1,) * (width - len(row)))]


def test_what_is_cheaper_is_taken():
    """Many rows behind long rules are read after a prefix; a few tokens that differ are cheaper in one pass."""
    many = shape_of_pack(pack_examples(prompts(40), 4096)[0])
    assert many.prefix_cost < many.tree_cost
    few = shape_of_pack(pack_examples(prompts(4, own=5), 4096)[0])
    assert few.prefix_cost > few.tree_cost


def test_trees_of_several_prompts_fill_one_pack():
    """Each would be read after a prefix of its own; together they take two passes, not eight."""
    made = [example for rule in (3, 5, 7, 9) for example in prompts(10, rule=rule)]
    policy = Policy(load("tiny"), max_tokens_per_microbatch=2048)
    (pack,) = policy.packs(made)
    assert len(list(pack.trees)) == 4
    apart = [shape_of_pack(policy.packs(prompts(10, rule=rule))[0]) for rule in (3, 5, 7, 9)]
    assert shape_of_pack(pack) == sum(apart[1:], start=apart[0])
    assert shape_of_pack(pack).prefix_cost < sum(shape.prefix_cost for shape in apart)
    assert all(len(some.tokens) <= 700 for some in Policy(load("tiny"), max_tokens_per_microbatch=700).packs(made))


def test_a_single_text_and_texts_that_share_nothing_are_no_bush():
    alone = [Example(tokens=(1, 2, 3), loss_positions=(2,))]
    assert prefix_batch(pack_examples(alone, 100)[0]) is None
    assert prefix_batch(pack_examples([*alone, Example(tokens=(5, 2, 3), loss_positions=(2,))], 100)[0]) is None


def test_without_activations_kept_packs_are_read_side_by_side():
    lm = load("tiny")
    assert not Policy(lm, gradient_checkpointing=True).prefix_batches

"""Values and gradients of packed trees against plain passes over each text."""

import random

import pytest
import torch

from stratagem.language.models.load import load
from stratagem.learn.decoder_pass import FusedPass, ModulePass
from stratagem.learn.example import Example
from stratagem.learn.packing import pack_examples, read
from stratagem.learn.policy import Policy
from stratagem.learn.tree_batch import tree_batch

FAMILIES = ("tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5")


@pytest.fixture(scope="module", params=FAMILIES)
def lm(request):
    made = load(request.param)
    made.model.requires_grad_(True)
    yield made
    made.model.requires_grad_(False)
    made.model.zero_grad(set_to_none=True)


def examples(seed, number=9, size=1583, *, pairs=False):
    """Texts that share beginnings of random lengths, with allowed sets, temperatures and targets here and there."""
    rng = random.Random(seed)
    trunk = [rng.randrange(size) for _ in range(90)]
    made = []
    for which in range(number):
        tokens = trunk[: rng.randrange(2, 90)] + [rng.randrange(size) for _ in range(rng.randrange(1, 12))]
        taught = tuple(sorted(rng.sample(range(1, len(tokens)), k=min(len(tokens) - 1, rng.randrange(1, 6)))))
        sets = [tuple(sorted({tokens[p], *rng.sample(range(size), 3)})) if rng.random() < 0.5 else None for p in taught]
        targets = tuple({tokens[p]: 0.25, 7: 0.5, 11: 0.25} if tokens[p] not in (7, 11) else {7: 1.0} for p in taught)
        made.append(
            Example(
                tokens=tuple(tokens),
                loss_positions=taught,
                allowed=tuple(sets),
                temperature=rng.choice((0.7, 1.0)),
                targets=targets if which % 3 == 0 and not any(sets) else (),
                pair=which // 2 if pairs else None,
            )
        )
    return made


def plainly(lm, example):
    """The same numbers from one pass over one text and whole log-softmaxes."""
    logits = lm.model(input_ids=torch.tensor([example.tokens])).logits[0].float() / example.temperature
    said = []
    for number, place in enumerate(example.loss_positions):
        row = logits[place - 1]
        allowed = example.allowed[number] if example.allowed else None
        if allowed is not None:
            row = torch.full_like(row, float("-inf")).index_copy(0, torch.tensor(allowed), row[list(allowed)])
        every = torch.log_softmax(row, -1)
        entropy = torch.distributions.Categorical(logits=row[list(allowed)] if allowed else row).entropy()
        target = example.targets[number] if example.targets else {}
        said.append(
            torch.stack(
                [every[example.tokens[place]], entropy, sum((q * every[t] for t, q in target.items()), torch.zeros(()))]
            )
        )
    return torch.stack(said)


def by_policy(policy, made):
    rows = {}
    for pack in policy.packs(made):
        found = torch.stack(policy.outputs(pack, made)[:3], dim=1)
        for number in pack.examples:
            count = len(made[number].loss_positions)
            rows[number], found = found[:count], found[count:]
        assert not len(found)
    return torch.cat([rows[number] for number in range(len(made))])


def gradients(lm, loss):
    lm.model.zero_grad(set_to_none=True)
    loss.backward()
    return {name: w.grad.clone() for name, w in lm.model.named_parameters() if w.grad is not None}


def growing(number=6):
    """Texts of which each begins with the one before it, as the rounds of a game."""
    text = tuple((7 * place * place + 5) % 1500 for place in range(90))
    return [Example(tokens=text[: 30 + 8 * n], loss_positions=(29 + 8 * n,)) for n in range(number)]


MADE = {"any": examples(3), "growing": growing()}


@pytest.fixture(scope="module")
def plain(lm):
    """Values of plain passes, and gradients of their weighted sum, by the kind of examples."""
    known = {}

    def once(kind):
        if kind not in known:
            values = torch.cat([plainly(lm, example) for example in MADE[kind]])
            weights = torch.linspace(-1.0, 1.0, values.numel()).reshape(values.shape)
            known[kind] = values.detach(), gradients(lm, (values * weights).sum())
        return known[kind]

    return once


@pytest.mark.parametrize(("budget", "kind"), [(80, "any"), (4096, "any"), (4096, "growing")])
def test_values_and_gradients_are_those_of_plain_passes(lm, budget, kind, plain):
    made = MADE[kind]
    policy = Policy(lm, max_tokens_per_microbatch=budget, chunk=5)
    assert policy.share_prefixes == (lm.name != "tiny-qwen3.5")
    packs_ = by_policy(policy, made)
    weights = torch.linspace(-1.0, 1.0, packs_.numel()).reshape(packs_.shape)
    ours = gradients(lm, (packs_ * weights).sum())
    values, theirs = plain(kind)
    assert torch.allclose(packs_, values, atol=1e-4)
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert torch.allclose(ours[name], grad, atol=1e-4 * max(1.0, grad.abs().max().item())), name


def test_examples_of_one_text_are_one_pack_however_long_it_is():
    one, other = examples(5, number=2)
    made = [one, other, one, one]
    packs = pack_examples(made, 1, share=False)
    assert sorted(pack.examples for pack in packs) == [(0, 2, 3), (1,)]
    assert sorted(len(pack.tokens) for pack in packs) == sorted(len(read(example)) for example in (one, other))


def test_sharing_saves_tokens_and_budget_and_pairs_hold():
    made = examples(5, number=40, pairs=True)
    shared, apart = pack_examples(made, 400), pack_examples(made, 400, share=False)
    assert sum(len(pack.tokens) for pack in shared) < 0.6 * sum(len(pack.tokens) for pack in apart)
    for packs in (shared, apart):
        assert sorted(number for pack in packs for number in pack.examples) == list(range(40))
        home = {number: place for place, pack in enumerate(packs) for number in pack.examples}
        assert all(home[number] == home[number ^ 1] for number in range(40))
        assert all(len(pack.tokens) <= 400 for pack in packs)
        for pack in packs:
            rows = tree_batch(pack)
            for number, nodes in zip(pack.examples, pack.nodes, strict=True):
                assert tuple(pack.tokens[node] for node in nodes) == read(made[number])
                stands = rows.indices[list(nodes)]
                assert rows.tokens(pack).flatten()[stands].tolist() == list(read(made[number]))
                assert rows.depths.flatten()[stands].tolist() == list(range(len(nodes)))
                row, column = divmod(stands[-1].item(), rows.width)
                seen = rows.mask[row, column].nonzero()[:, 0] + row * rows.width
                assert seen.tolist() == sorted(stands.tolist())


def with_one_prompt(number, prompt, reply, budget):
    """Packs of replies to one prompt."""
    rng = random.Random(7)
    trunk = [rng.randrange(1500) for _ in range(prompt)]
    texts = [trunk + [rng.randrange(1500) for _ in range(reply)] for _ in range(number)]
    made = [Example(tokens=(*text, 0), loss_positions=(len(text),)) for text in texts]
    return made, pack_examples(made, budget)


@pytest.mark.parametrize("prompt", [80, 99, 101, 150, 300])
def test_a_prompt_near_or_over_the_budget_is_still_shared(prompt):
    """At most half of a pack is the prompt again, so all packs read less than twice the least."""
    made, packs = with_one_prompt(60, prompt, 10, budget=100)
    longest = max(len(read(example)) for example in made)
    assert all(len(pack.tokens) <= max(100, 2 * longest) for pack in packs)
    assert sum(len(pack.tokens) for pack in packs) < 3 * (prompt + 60 * 10)


class Counting(list):
    """A batch that counts how often an example is looked at."""

    looks = 0

    def __getitem__(self, index):
        Counting.looks += 1
        return super().__getitem__(index)

    def __iter__(self):
        return (self[index] for index in range(len(self)))


def test_packing_looks_at_each_example_a_few_times_however_many_packs():
    lm = load("tiny")
    looks = []
    for trunks in (5, 40):
        made = Counting(example for seed in range(trunks) for example in examples(seed))
        Counting.looks = 0
        assert len(Policy(lm, max_tokens_per_microbatch=200).packs(made)) >= trunks / 2
        looks.append(Counting.looks / len(made))
    assert looks[1] <= 1.5 * looks[0]


def test_trees_that_share_nothing_stand_in_rows_of_their_own():
    """Attention costs the square of a row's width; small trees fill up the rows of large ones."""
    texts = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 9, 9], [7, 7, 7], [8, 8, 8, 8, 8, 8], [5, 5]]
    made = [Example(tokens=(*text, 0), loss_positions=(len(text),)) for text in texts]
    (pack,) = pack_examples(made, 100)
    rows = tree_batch(pack)
    assert rows.width == 9
    assert sorted(sum(branch.size for branch in row) for row in rows.rows) == [2, 9, 9]
    assert not rows.plain
    assert len(set(rows.indices.tolist())) == len(pack.tokens) == 20


def test_texts_of_one_length_that_share_nothing_need_no_mask():
    made = [Example(tokens=(start, 1, 2, 3), loss_positions=(3,)) for start in (5, 6, 7)]
    (pack,) = pack_examples(made, 100)
    assert tree_batch(pack).plain
    (longer,) = pack_examples([*made, Example(tokens=(5, 1, 2, 3, 4), loss_positions=(4,))], 100)
    assert tree_batch(longer).plain, "a text that begins with another"
    (shared,) = pack_examples([*made, Example(tokens=(5, 1, 9, 3), loss_positions=(3,))], 100)
    assert not tree_batch(shared).plain


@pytest.mark.parametrize(
    ("kind", "kind_of_pass"),
    [("tiny", FusedPass), ("tiny-qwen", FusedPass), ("tiny-gemma", ModulePass), ("tiny-qwen3.5", ModulePass)],
)
def test_a_decoder_of_llamas_structure_is_read_by_the_fused_pass(kind, kind_of_pass):
    """A probe compares the pass with the model's own, and leaves it where the two differ."""
    assert type(Policy(load(kind)).decoder_pass) is kind_of_pass


@pytest.mark.usefixtures("probing_anew")
def test_a_decoder_that_the_fused_pass_reads_otherwise_is_left_to_its_modules():
    """As one of the same modules whose configuration scales the residuals."""
    lm = load("tiny")
    for layer in lm.model.model.layers:
        layer.mlp.register_forward_hook(lambda module, given, out: 0.9 * out)
    policy = Policy(lm)
    assert type(policy.decoder_pass) is ModulePass
    assert policy.share_prefixes


def test_the_last_layer_is_computed_for_the_loss_tokens_alone():
    lm, rows = load("tiny"), []
    policy, made = Policy(lm), examples(3)
    for number in (0, 3):
        layer = lm.model.model.layers[number]
        layer.mlp.down_proj.register_forward_pre_hook(lambda _, given: rows.append(given[0].shape[:2].numel()))
    (pack,) = policy.packs(made)
    policy.outputs(pack, made)
    assert rows[0] >= len(pack.tokens)
    nodes = {
        pack.node(path, at - 1)
        for path, number in zip(pack.paths, pack.examples, strict=True)
        for at in made[number].loss_positions
    }
    assert rows[1] < 2 * len(nodes) < rows[0]

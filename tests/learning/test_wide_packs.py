"""Sparse masks of wide packs show each token what the dense mask shows, and give its values and gradients."""

import numpy as np
import pytest
import torch
from test_policy import by_policy, examples, gradients, growing
from torch.nn.attention.flex_attention import flex_attention
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from stratagem.language.models.attention import Attention
from stratagem.language.models.load import load
from stratagem.learn import branch_attention, flex_mask, pass_sizes
from stratagem.learn.branch_attention import BranchMask
from stratagem.learn.example import Example
from stratagem.learn.flex_mask import BLOCK, FlexMask, seen_rule
from stratagem.learn.packing import pack_examples
from stratagem.learn.pass_sizes import may_be_wide, pack_size, sparse_kinds
from stratagem.learn.policy import Policy
from stratagem.learn.tree_batch import tree_batch

CPU = torch.device("cpu")
OTHERS = [Example(tokens=(*range(40 * n, 40 * n + 13 * n), 0), loss_positions=(13 * n,)) for n in (1, 2, 3)]
BATCHES = {"trees": [*examples(3, 12), *OTHERS], "continued": [*growing(), *OTHERS], "apart": OTHERS}


def read(lm, made, **settings):
    """Values, and the gradients of their weighted mean."""
    values = by_policy(Policy(lm, **settings), made)
    weights = torch.linspace(-1.0, 1.0, values.numel()).reshape(values.shape)
    return values.detach(), gradients(lm, (values * weights).mean())


@pytest.fixture(scope="module", params=["tiny", "tiny-qwen", "tiny-gemma"])
def lm(request):
    return load(request.param)


@pytest.mark.parametrize(("batch", "checkpointing"), [("trees", False), ("trees", True), ("continued", False)])
def test_attention_by_branch_has_the_values_and_gradients_of_dense_masks(lm, batch, checkpointing, monkeypatch):
    monkeypatch.setattr(branch_attention, "QUERIES", 5)
    lm.model.requires_grad_(True)
    expected, theirs = read(lm, BATCHES[batch], attention="dense", gradient_checkpointing=checkpointing)
    values, ours = read(lm, BATCHES[batch], attention="branches", gradient_checkpointing=checkpointing)
    assert torch.allclose(values, expected, rtol=1e-6, atol=3e-6)  # logits of 15 are rounded to 1e-6
    assert ours.keys() == theirs.keys()
    for name, grad in theirs.items():
        assert torch.allclose(ours[name], grad, rtol=0.0, atol=1e-6 * max(1.0, grad.abs().max().item())), name


@pytest.fixture
def eager(monkeypatch):
    """FlexAttention without a compiler, which takes seconds to load."""
    monkeypatch.setattr("torch.nn.attention.flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)


@pytest.mark.usefixtures("eager", "probing_anew")
def test_flex_attention_has_the_values_of_dense_masks(lm):
    lm.model.requires_grad_(False)
    with torch.no_grad():
        expected = by_policy(Policy(lm, attention="dense"), BATCHES["trees"])
        assert torch.allclose(by_policy(Policy(lm, attention="flex"), BATCHES["trees"]), expected, rtol=1e-6, atol=3e-6)


def attention_case(made, heads=4, key_heads=2, size=16):
    """Rows of a batch, with random queries, keys and values, and weights of a loss."""
    tree = tree_batch(pack_examples(made, 4096)[0])
    generator = torch.Generator().manual_seed(5)
    shapes = [(len(tree.rows), number, tree.width, size) for number in (heads, key_heads, key_heads, heads)]
    return tree, [torch.randn(shape, generator=generator) for shape in shapes]


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.usefixtures("eager")
def test_sparse_attention_equals_the_dense_one(batch, window):
    """To one in a million, gradients of queries, keys and values included; padding is no result."""
    tree, (queries, keys, values, weights) = attention_case(BATCHES[batch])
    columns = torch.arange(tree.width).expand(len(tree.rows), -1)
    mask = dense_mask(tree, window, columns)[:, None]
    sizes = torch.tensor([sum(branch.size for branch in row) for row in tree.rows])
    weights = weights * (columns < sizes[:, None])[:, None, :, None]

    def dense(*given):
        return torch.nn.functional.scaled_dot_product_attention(*given, attn_mask=mask, scale=0.3, enable_gqa=True)

    def sparse(*given):
        return BranchMask(tree, CPU).attend(*given, 0.3, window)

    inputs = [each.requires_grad_() for each in (queries, keys, values)]
    theirs, ours = (weights * dense(*inputs), weights * sparse(*inputs))
    for found, expected in zip(
        (ours, *torch.autograd.grad(ours.sum(), inputs)),
        (theirs, *torch.autograd.grad(theirs.sum(), inputs)),
        strict=True,
    ):
        assert (found - expected).norm() < 1e-6 * expected.norm()
    with torch.no_grad():
        flex = weights * FlexMask.of(tree, CPU).attend(*(each.detach() for each in inputs), 0.3, window)
    assert (flex - theirs).norm() < 1e-6 * theirs.norm()


def dense_mask(batch, window, columns):
    """Mask [R, Q, W] of these queries; a token sees as far back as the window, by depth."""
    near = batch.depths[:, :, None] - batch.depths[:, None, :] < (window or 10**6)
    return torch.stack([(batch.mask & near)[row, own] for row, own in enumerate(columns)])


def by_blocks(mask, window, batch, columns):
    """Mask of these queries that the blocks of branches state; padding sees itself."""
    found = torch.zeros(len(columns), columns.shape[1], batch.width, dtype=torch.bool)
    for block in mask.blocks(window):
        keys = torch.arange(batch.width)[block.keys]
        seen = block.mask(window)
        seen = torch.ones(len(block.depths), len(keys)).tril().bool() if seen is None else seen
        rows = torch.arange(columns.shape[1])[block.queries]
        assert not found[block.row, rows].any()
        found[block.row, rows[:, None], keys] = seen
    padding = columns >= torch.tensor([sum(branch.size for branch in row) for row in batch.rows])[:, None]
    return found | (padding[:, :, None] & (columns[:, :, None] == torch.arange(batch.width)))


@pytest.mark.parametrize("queries", ["all", "some"])
@pytest.mark.parametrize("window", [None, 1, 7])
@pytest.mark.parametrize("batch", BATCHES)
def test_sparse_masks_show_what_the_dense_mask_shows(batch, window, queries, monkeypatch):
    monkeypatch.setattr(branch_attention, "QUERIES", 5)
    tree = tree_batch(pack_examples(BATCHES[batch], 4096)[0])
    branches, flex = BranchMask(tree, CPU), FlexMask.of(tree, CPU)
    columns = torch.arange(tree.width).expand(len(tree.rows), -1)
    if queries == "some":
        columns = torch.randint(tree.width, (len(tree.rows), 30), generator=torch.Generator().manual_seed(1))
        branches, flex = branches.of_queries(columns), flex.of_queries(columns)
    expected = dense_mask(tree, window, columns)
    assert torch.equal(by_blocks(branches, window, tree, columns), expected)
    row, query, key = (torch.arange(size) for size in expected.shape)
    rule = seen_rule(flex.tree, window)(row[:, None, None], row[:, None, None], query[:, None], key)
    assert torch.equal(rule, expected)


@pytest.mark.parametrize("window", [None, 40])
def test_blocks_of_flex_attention_are_those_that_are_seen(window):
    """Blocks that are seen as a whole are computed without the rule, and those that nobody sees not at all."""
    trunk = tuple((7 * at + 3) % 1500 for at in range(300))
    made = [Example(tokens=(*trunk, own, *trunk[:250], 0), loss_positions=(551,)) for own in (1501, 1502)]
    made.append(Example(tokens=(*trunk[5:200], 0), loss_positions=(195,)))
    tree = tree_batch(pack_examples(made, 4096)[0])
    mask = FlexMask.of(tree, CPU).block_mask(window)
    columns = torch.arange(tree.width).expand(len(tree.rows), -1)
    room = -tree.width % BLOCK
    tiles = torch.nn.functional.pad(dense_mask(tree, window, columns), (0, room, 0, room))
    tiles = tiles.unflatten(2, (-1, BLOCK)).unflatten(1, (-1, BLOCK)).transpose(2, 3)
    some, every = tiles.any(-1).any(-1), tiles.all(-1).all(-1)
    assert every.any() == (window is None)
    assert not some.all()
    for count, indices, expected in (
        (mask.kv_num_blocks, mask.kv_indices, some & ~every),
        (mask.full_kv_num_blocks, mask.full_kv_indices, every),
    ):
        found = torch.zeros_like(expected)
        for (row, block), number in np.ndenumerate(count[:, 0].numpy()):
            found[row, block, indices[row, 0, block, :number].long()] = True
        assert torch.equal(found, expected)


@pytest.mark.long
@pytest.mark.usefixtures("probing_anew")
def test_compiled_flex_attention_reads_whole_blocks(monkeypatch):
    monkeypatch.setattr(flex_mask, "flex_kernel", lambda compiled: torch.compile(flex_attention, dynamic=True))
    lm = load("tiny-qwen")
    trunk = tuple((7 * at + 3) % 1500 for at in range(300))
    made = [Example(tokens=(*trunk, own, *trunk[:60], 0), loss_positions=(361,)) for own in (1501, 1502)]
    with torch.no_grad():
        expected, found = (by_policy(Policy(lm, attention=kind), made) for kind in ("dense", "flex"))
    assert torch.allclose(found, expected, rtol=1e-6, atol=3e-6)


class LargestTensor(TorchDispatchMode):
    """Number of entries of the largest tensor that an operation returned."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        sizes = [each.untyped_storage().nbytes() // 4 for each in tree_iter(result) if isinstance(each, torch.Tensor)]
        self.size = max(self.size, *sizes, 0)
        return result


def wide_batch():
    trunk = tuple((7 * at + 3) % 1500 for at in range(200))
    return [Example(tokens=(*trunk, n, *trunk[:40], 0), loss_positions=(241,)) for n in range(24)]


@pytest.mark.parametrize("window", [None, 100])
def test_no_tensor_of_attention_by_branch_has_a_number_for_each_pair(window):
    tree, (*inputs, _) = attention_case(wide_batch())
    inputs = [each.requires_grad_() for each in inputs]
    with LargestTensor() as meter:
        BranchMask(tree, CPU).attend(*inputs, 0.3, window).sum().backward()
    assert meter.size < tree.width**2 / 10


@pytest.mark.parametrize("prefix_batches", [False, True])
def test_wide_packs_are_read_without_a_dense_mask(monkeypatch, prefix_batches):
    lm, made = load("tiny"), wide_batch()
    policy = Policy(lm)
    policy.prefix_batches = prefix_batches
    expected = by_policy(policy, made)
    monkeypatch.setattr(pass_sizes, "MOST_PAIRS", {"cpu": 1000})
    for name in ("tree_mask", "mask_between", "mask"):
        monkeypatch.setattr(Attention, name, None)
    assert policy.wide == "branches"
    assert torch.allclose(by_policy(policy, made), expected, rtol=1e-6, atol=3e-6)


def test_packs_of_the_default_size_are_dense_on_a_processor():
    assert not may_be_wide(4096, "cpu")
    assert may_be_wide(8192, "cpu")
    assert may_be_wide(4096, "cuda")
    assert sparse_kinds("cuda") == ("flex", "branches")
    assert sparse_kinds("cpu") == ("branches",)


def test_wide_packs_are_estimated_without_a_mask(monkeypatch):
    made = wide_batch()
    (pack,) = pack_examples(made, 4096)
    (dense,) = pack_size(pack, made, share=True, prefix_batches=False).passes
    monkeypatch.setattr(pass_sizes, "MOST_PAIRS", {"cpu": dense.scores, "cuda": dense.scores - 1})
    assert pack_size(pack, made, share=True, prefix_batches=False).passes == (dense,)
    wide = pack_size(pack, made, share=True, prefix_batches=False, device="cuda").passes
    assert dense.masked
    assert wide == (dense._replace(masked=False),)


def test_reading_says_how_wide_packs_are_read():
    lm = load("tiny")
    Policy(lm)
    assert "wide" not in lm.reading["training"]
    Policy(lm, max_tokens_per_microbatch=8192)
    assert "; wide packs by branch: it deviates by " in lm.reading["training"]


@pytest.mark.usefixtures("probing_anew")
def test_sparse_attention_that_reads_otherwise_is_not_used(monkeypatch):
    attend = BranchMask.attend
    monkeypatch.setattr(BranchMask, "attend", lambda *given: 0.9 * attend(*given))
    lm = load("tiny")
    policy = Policy(lm, max_tokens_per_microbatch=8192)
    assert (policy.wide, policy.share_prefixes) == ("dense", True)
    assert "; wide packs by branch: it deviates by " in lm.reading["training"]

"""SPAG, KL to targets, weighted cross-entropy and sums, each against the formula written out reply by reply."""

import math
from dataclasses import replace

import pytest
import torch
from loss_batches import batch, part

from stratagem.learn.losses.base import Columns, Outputs
from stratagem.learn.losses.catalogue import read_loss
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.losses.kl_targets import target_entropy
from stratagem.learn.losses.kto import KTO
from stratagem.learn.losses.total import LossTerm, Sum

SAID = ((-0.5, -1.0), (-0.2,), (-2.0, -0.1, -0.4))
PLAYED = ((-0.7, -0.9), (-0.5,), (-1.0, -0.3, -0.5))
ADVANTAGES = (0.3, -0.2, 0.1)
WEIGHTS = (0.75, 1.5, 0.75)


def replies():
    said = torch.tensor([said for reply in SAID for said in reply], dtype=torch.float64, requires_grad=True)
    played = torch.tensor([said for reply in PLAYED for said in reply], dtype=torch.float64)
    example = torch.tensor([number for number, reply in enumerate(SAID) for _ in reply])
    return Outputs(policy_logprobs=said, reference_logprobs=played), example


def spag(ratio="reply", clip_range=None, kl_coef=0.2):
    """By replies: `-mean of w (rho A - beta rho log rho)`, clipped as the authors' code does."""
    total = 0.0
    for said, played, advantage, weight in zip(SAID, PLAYED, ADVANTAGES, WEIGHTS, strict=True):
        far = sum(said) - sum(played)
        far = far / len(said) if ratio == "token" else far
        penalised = advantage - kl_coef * far
        gain = math.exp(far) * penalised
        if clip_range is not None:
            gain = min(gain, min(max(math.exp(far), 1 - clip_range), 1 + clip_range) * penalised)
        total -= weight * gain
    return total / 3


@pytest.mark.parametrize(
    "options", [{}, {"kl_coef": 0.0}, {"ratio": "token"}, {"clip_range": 0.2}, {"ratio": "token", "clip_range": 0.1}]
)
def test_spag_is_its_formula(options):
    outputs, example = replies()
    rows = {"advantage": torch.tensor(ADVANTAGES), "weight": torch.tensor(WEIGHTS)}
    columns = Columns(example=example, num_examples=3, rows=rows)
    loss = read_loss("spag(" + ", ".join(f"{name}={value}" for name, value in options.items()) + ")").value
    found = loss(outputs, columns, loss.prepare(columns))
    assert found.loss.item() == pytest.approx(spag(**options), abs=1e-7)


def test_spag_reports_the_divergence_of_the_policy_over_replies_of_the_player():
    """KL(pi, ref) is the mean of rho log rho over samples of the reference, and not of log rho."""
    outputs, example = replies()
    rows = {"advantage": torch.tensor(ADVANTAGES), "weight": torch.tensor(WEIGHTS)}
    columns = Columns(example=example, num_examples=3, rows=rows)
    far = [sum(said) - sum(played) for said, played in zip(SAID, PLAYED, strict=True)]
    found = read_loss("spag").value(outputs, columns, {"weight": 3.0})
    assert found.means()["kl"] == pytest.approx(sum(math.exp(x) * x for x in far) / 3)


def test_where_policy_and_player_agree_spag_is_the_policy_gradient_with_no_pull():
    """`rho log rho` has its least slope there: the gradient is the advantage less beta, which is a baseline."""
    outputs, example = replies()
    rows = {"advantage": torch.tensor(ADVANTAGES), "weight": torch.ones(3)}
    columns = Columns(example=example, num_examples=3, rows=rows)
    same = Outputs(policy_logprobs=outputs.policy_logprobs, reference_logprobs=outputs.policy_logprobs.detach())
    loss = read_loss("spag").value
    found = torch.autograd.grad(loss(same, columns, loss.prepare(columns)).loss, outputs.policy_logprobs)[0]
    assert found.tolist() == pytest.approx([-(ADVANTAGES[number] - 0.2) / 3 for number in example.tolist()])


def test_kl_to_targets_is_torchs_over_the_whole_vocabulary():
    torch.manual_seed(0)
    logits = torch.randn(4, 9, dtype=torch.float64, requires_grad=True)
    every = torch.log_softmax(logits, -1)
    targets = [{2: 1.0}, {1: 0.25, 3: 0.75}, {0: 0.5, 4: 0.25, 8: 0.25}, {5: 0.9, 6: 0.1}]
    dense = torch.zeros(4, 9, dtype=torch.float64)
    for row, target in enumerate(targets):
        for token, share in target.items():
            dense[row, token] = share
    theirs = torch.nn.functional.kl_div(every, dense, reduction="batchmean")
    entropies = torch.tensor([target_entropy(target) for target in targets], dtype=torch.float64)
    columns = Columns(example=torch.arange(4), num_examples=4, tokens={"target_entropy": entropies})
    loss = read_loss("kl_targets").value
    outputs = Outputs(policy_logprobs=torch.zeros(4), target_logprobs=(dense * every).sum(-1))
    output = loss(outputs, columns, loss.prepare(columns))
    assert output.loss.item() == pytest.approx(theirs.item(), abs=1e-12)
    assert output.means()["kl"] == pytest.approx(theirs.item(), rel=1e-6)
    found, wanted = (torch.autograd.grad(one, logits, retain_graph=True)[0] for one in (output.loss, theirs))
    assert torch.allclose(found, wanted, atol=1e-12)


def test_a_model_that_has_the_target_loses_nothing():
    target = {3: 0.2, 7: 0.8}
    expected = torch.tensor([sum(share * math.log(share) for share in target.values())])
    columns = Columns(
        example=torch.zeros(1, dtype=torch.long),
        num_examples=1,
        tokens={"target_entropy": torch.tensor([target_entropy(target)])},
    )
    loss = read_loss("kl_targets").value
    outputs = Outputs(policy_logprobs=torch.zeros(1), target_logprobs=expected)
    assert loss(outputs, columns, loss.prepare(columns)).loss.item() == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(
    ("per", "wanted"),
    [("token", (0.5 + 2 * 1.0 + 0.5 * 2.0) / 3.5), ("example", ((0.5 + 2 * 1.0) / 3 + 2.0) / 2)],
)
def test_weight_zero_has_no_gradient_and_does_not_count(per, wanted):
    outputs, example = replies()
    weight = torch.tensor([1.0, 2.0, 0.0, 0.5, 0.0, 0.0])
    columns = Columns(example=example, num_examples=3, tokens={"weight": weight})
    loss = CrossEntropy(weighted=True, normalize_by=per)
    output = loss(outputs, columns, loss.prepare(columns))
    assert output.loss.item() == pytest.approx(wanted)
    gradient = torch.autograd.grad(output.loss, outputs.policy_logprobs)[0]
    assert [number for number, slope in enumerate(gradient.tolist()) if slope == 0.0] == [2, 4, 5]
    assert output.means()["nll"] == pytest.approx((0.5 + 2 * 1.0 + 0.5 * 2.0) / 3.5)


def test_a_sum_adds_its_parts_and_keeps_their_figures_apart():
    outputs, example = replies()
    rows = {"desirable": torch.tensor([1.0, 0.0, 1.0]), "kl": torch.tensor([0.0, 0.0, 1.0])}
    columns = Columns(example=example, num_examples=3, tokens={"weight": torch.tensor([1.0, 1, 0, 0, 0, 0])}, rows=rows)
    bc, kto = CrossEntropy(weighted=True), KTO(kto_beta=0.5)
    joint = Sum((LossTerm("bc", 0.5, bc), LossTerm("kto", 2.0, kto)))
    output = joint(outputs, columns, joint.prepare(columns, outputs))
    alone = [loss(outputs, columns, loss.prepare(columns, outputs)).loss.item() for loss in (bc, kto)]
    assert output.loss.item() == pytest.approx(0.5 * alone[0] + 2.0 * alone[1])
    assert {name.split("/")[0] for name in output.metrics} == {"bc", "kto"}
    assert (joint.needs_outputs, joint.prepare_only_row, joint.paired) == (True, "kl", False)


def test_what_is_set_aside_needs_to_be_in_no_piece():
    """KTO's mismatched replies are looked at once: left out of what is learnt, they change nothing."""
    outputs, example = replies()
    rows = {"desirable": torch.tensor([1.0, 0.0, 1.0]), "kl": torch.tensor([1.0, 0.0, 0.0])}
    columns = Columns(example=example, num_examples=3, rows=rows)
    loss = KTO()
    totals = loss.prepare(columns, outputs)
    assert totals == {"examples": 2.0, "kl": pytest.approx(0.1)}
    whole = loss(outputs, columns, totals)
    kept = example > 0
    without = Columns(example=example[kept] - 1, num_examples=2, rows={name: row[1:] for name, row in rows.items()})
    policy, reference = outputs.policy_logprobs, outputs.reference_logprobs
    fewer = Outputs(policy_logprobs=policy[kept], reference_logprobs=reference[kept])
    assert loss(fewer, without, totals).loss.item() == pytest.approx(whole.loss.item())
    unread = Outputs(policy_logprobs=policy.masked_fill(kept, torch.nan), reference_logprobs=reference)
    assert loss.prepare(columns, unread) == totals


def repeated(outputs, columns, counts, unit):
    """The same batch with every unit (an example, or the two of a pair) standing there as often as it counts."""
    numbers = [
        number
        for place, count in enumerate(counts)
        for _ in range(count)
        for number in range(place * unit, place * unit + unit)
    ]
    pieces = [part(outputs, columns, [number]) for number in numbers]
    said = {
        name: torch.cat([getattr(piece, name) for piece, _ in pieces])
        for name in ("policy_logprobs", "reference_logprobs")
        if getattr(outputs, name) is not None
    }
    sizes = torch.tensor([len(piece.example) for _, piece in pieces])
    tokens = {name: torch.cat([piece.tokens[name] for _, piece in pieces]) for name in columns.tokens}
    return Outputs(**said), Columns(
        example=torch.arange(len(pieces)).repeat_interleave(sizes),
        num_examples=len(pieces),
        tokens={**tokens, "weight": torch.ones(int(sizes.sum()), dtype=torch.float64)},
        rows={name: torch.cat([piece.rows[name] for _, piece in pieces]) for name in columns.rows}
        | {"weight": torch.ones(len(pieces), dtype=torch.float64)},
        pairs=None if columns.pairs is None else torch.arange(len(pieces)) // 2,
    )


@pytest.mark.parametrize(
    "text",
    [
        "kto(weighted=True, desirable_weight=0.4)",
        "dpo(weighted=True)",
        "cross_entropy(weighted=True, normalize_by=divisor)",
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_weighed_by_its_count_gives_the_gradient_of_what_stands_there_so_often(text, seed):
    loss = read_loss(text).value
    plain, columns = batch(loss, seed)
    if "kl" in columns.rows:  # the first half is for the divergence alone
        columns.rows["kl"][:] = torch.tensor([1.0] * 4 + [0.0] * 4)
    unit = 2 if loss.paired else 1
    counts = [1 + (seed + place) % 4 for place in range(8 // unit)]
    taught = sum(counts) if "kl" not in columns.rows else sum(counts[4:])
    fewer = len(counts) if "kl" not in columns.rows else 4
    each = torch.tensor(counts, dtype=torch.float64).repeat_interleave(unit) * fewer / taught
    rows = {**columns.rows, "weight": each, "divisor": torch.full((8,), 30.0, dtype=torch.float64)}
    weighed = replace(columns, rows=rows, tokens={"weight": each[columns.example]})
    said = plain.policy_logprobs.clone().requires_grad_()
    few = replace(plain, policy_logprobs=said)
    many, whole = repeated(few, columns, counts, unit)
    whole = replace(whole, rows={**whole.rows, "divisor": torch.full((whole.num_examples,), 30.0 * taught / fewer)})
    found, wanted = (
        torch.autograd.grad(loss(o, c, loss.prepare(c, o)).loss, said, retain_graph=True)[0]
        for o, c in ((few, weighed), (many, whole))
    )
    assert torch.allclose(found, wanted, atol=1e-12), (found, wanted)
    assert found.abs().max() > 1e-4

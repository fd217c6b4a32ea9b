"""Losses and their gradients equal those of trl's own trainers, on their own batches of a tiny model."""

import copy

import datasets
import pytest
import torch
import trl

from stratagem.language.models.load import load
from stratagem.learn.example import example_from_demonstration
from stratagem.learn.losses.base import Columns, Outputs
from stratagem.learn.losses.catalogue import read_loss
from stratagem.learn.losses.kto import mismatch_replies

PROMPTS = ["play", "who bets", "now it is your turn", "a card"]
GOOD = [" C", " D and then C", " BET now", " PASS"]
BAD = [" D", " C", " FOLD", " CALL and raise"]
datasets.disable_progress_bars()


@pytest.fixture(scope="module")
def lm():
    return load("tiny")


@pytest.fixture(scope="module")
def made(lm, tmp_path_factory):
    """A trainer of trl's, with a policy that is some way from the reference."""

    def make(trainer, config, rows, *, reference=False, seed=3, **options):
        folder = str(tmp_path_factory.mktemp("trl"))
        args = config(
            output_dir=folder, use_cpu=True, report_to=[], bf16=False, disable_tqdm=True, **options.pop("args")
        )
        if reference:
            options["ref_model"] = copy.deepcopy(lm.model)
        data = datasets.Dataset.from_dict(rows)
        return trainer(
            model=moved(lm.model, seed), processing_class=lm.tokenizer, args=args, train_dataset=data, **options
        )

    return make


def moved(model, seed, spread=0.02):
    """A copy with noise in its weights, which learns."""
    torch.manual_seed(seed)
    other = copy.deepcopy(model).requires_grad_(True)
    for weight in other.parameters():
        weight.data += spread * torch.randn_like(weight)
    return other


def logprobs(model, ids, mask, taught, temperature=1.0):
    """Of the taught tokens, in one row; their entropies; and of which row each of them is."""
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1].float() / temperature
    every = torch.log_softmax(logits, -1)
    said = every.gather(-1, ids[:, 1:, None])[..., 0]
    entropies = -(every * every.exp()).sum(-1)
    chosen = taught[:, 1:].bool()
    return said[chosen], entropies[chosen], chosen.nonzero()[:, 0]


def agree(trainer, batch, ours):
    """Their loss and ours, and the gradients that both bring to the weights."""
    weights = [weight for weight in trainer.model.parameters() if weight.requires_grad]
    theirs = trainer.compute_loss(trainer.model, dict(batch))
    wanted = torch.autograd.grad(theirs, weights)
    found = torch.autograd.grad(ours, weights)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-5)
    assert max(gradient.abs().max() for gradient in wanted) > 1e-3
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(found, wanted, strict=True))


def apply(loss, outputs, columns):
    with torch.no_grad():
        totals = loss.prepare(columns, outputs if loss.needs_outputs else None)
    return loss(outputs, columns, totals).loss


def test_cross_entropy_is_the_sft_trainers(made):
    args = {"per_device_train_batch_size": 4}
    trainer = made(trl.SFTTrainer, trl.SFTConfig, {"prompt": PROMPTS, "completion": GOOD}, args=args)
    batch = next(iter(trainer.get_train_dataloader()))
    taught = batch["labels"] != -100
    said, _, example = logprobs(trainer.model, batch["input_ids"], batch["attention_mask"], taught)
    columns = Columns(example=example, num_examples=4)
    agree(trainer, batch, apply(read_loss("cross_entropy").value, Outputs(policy_logprobs=said), columns))


@pytest.mark.parametrize(
    ("options", "seed", "held"),
    [
        ("", 1, True),
        ("kto_beta=0.5", 2, True),
        ("kto_beta=2", 3, False),
        ("desirable_weight=0.4, undesirable_weight=1.7", 2, True),
    ],
)
def test_kto_is_the_kto_trainers(made, options, seed, held):
    loss = read_loss(f"kto({options})").value
    rows = {"prompt": PROMPTS, "completion": GOOD, "label": [True, False, False, True]}
    args = {
        "per_device_train_batch_size": 4,
        "beta": loss.kto_beta,
        "desirable_weight": loss.desirable_weight,
        "undesirable_weight": loss.undesirable_weight,
    }
    trainer = made(trl.KTOTrainer, trl.KTOConfig, rows, reference=True, seed=seed, args=args)
    batch = next(iter(trainer.get_train_dataloader()))
    both = [
        (batch[f"{kl}input_ids"], batch[f"{kl}attention_mask"], batch[f"{kl}completion_mask"]) for kl in ("", "KL_")
    ]
    policy, reference = ([logprobs(model, *some) for some in both] for model in (trainer.model, trainer.ref_model))
    example = torch.cat([policy[0][2], policy[1][2] + 4])
    flags = torch.tensor([0.0] * 4 + [1.0] * 4)
    desirable = torch.cat([batch["label"].float(), torch.ones(4)])
    columns = Columns(example=example, num_examples=8, rows={"desirable": desirable, "kl": flags})
    outputs = Outputs(
        policy_logprobs=torch.cat([said for said, _, _ in policy]),
        reference_logprobs=torch.cat([said for said, _, _ in reference]).detach(),
    )
    assert (loss.prepare(columns, outputs)["kl"] > 0.1) is held
    agree(trainer, batch, apply(loss, outputs, columns))


def test_mismatched_replies_are_those_of_the_kto_trainer(made):
    rows = {"prompt": PROMPTS, "completion": GOOD, "label": [True] * 4}
    data = made(
        trl.KTOTrainer, trl.KTOConfig, rows, reference=True, args={"per_device_train_batch_size": 4}
    ).train_dataset
    examples = [
        example_from_demonstration(tuple(row["prompt_ids"]), tuple(row["completion_ids"]), kl=0.0) for row in data
    ]
    for found, row in zip(mismatch_replies(examples), data, strict=True):
        assert list(found.tokens) == [*row["prompt_ids"], *row["KL_completion_ids"]]
        assert [found.tokens[place] for place in found.loss_positions] == row["KL_completion_ids"]
        assert found.row["kl"] == 1.0


def paired(trainer):
    """A batch of trl's, and ours: chosen examples, then rejected ones."""
    batch = next(iter(trainer.get_train_dataloader()))
    some = batch["input_ids"], batch["attention_mask"], batch["completion_mask"]
    (said, _, example), (reference, _, _) = (logprobs(m, *some) for m in (trainer.model, trainer.ref_model))
    half = len(batch["input_ids"]) // 2
    rows = {"chosen": torch.tensor([1.0] * half + [0.0] * half)}
    columns = Columns(example=example, num_examples=2 * half, rows=rows, pairs=torch.arange(2 * half) % half)
    return batch, Outputs(policy_logprobs=said, reference_logprobs=reference.detach()), columns


@pytest.mark.parametrize("beta", [0.1, 0.7])
def test_dpo_is_the_dpo_trainers(made, beta):
    rows = {"prompt": PROMPTS, "chosen": GOOD, "rejected": BAD}
    args = {"per_device_train_batch_size": 4, "beta": beta}
    trainer = made(trl.DPOTrainer, trl.DPOConfig, rows, reference=True, args=args)
    batch, outputs, columns = paired(trainer)
    agree(trainer, batch, apply(read_loss(f"dpo(dpo_beta={beta})").value, outputs, columns))


def test_smoothed_dpo_is_the_dpo_trainers_aot_of_a_single_pair(made):
    """AOT sorts the margins of a batch and is DPO where there is one; trl smooths no labels of its plain DPO."""
    rows = {"prompt": PROMPTS[:1], "chosen": GOOD[:1], "rejected": BAD[:1]}
    args = {"per_device_train_batch_size": 1, "beta": 0.5, "loss_type": ["aot"], "label_smoothing": 0.2}
    trainer = made(trl.DPOTrainer, trl.DPOConfig, rows, reference=True, args=args)
    batch, outputs, columns = paired(trainer)
    agree(trainer, batch, apply(read_loss("dpo(dpo_beta=0.5, label_smoothing=0.2)").value, outputs, columns))


@pytest.fixture(scope="module")
def grpo(made):
    args = {"per_device_train_batch_size": 4, "num_generations": 2, "max_completion_length": 6, "temperature": 0.8}
    trainer = made(
        trl.GRPOTrainer,
        trl.GRPOConfig,
        {"prompt": PROMPTS},
        reward_funcs=lambda completions, **_: [0.0] * len(completions),
        args=args,
    )
    trainer.current_gradient_accumulation_steps = 1
    return trainer


def rollout(trainer):
    """A batch as the trainer has it after generation: replies of unequal lengths, old and reference policies."""
    torch.manual_seed(5)
    prompts, replies = torch.randint(20, 1500, (4, 3)), torch.randint(20, 1500, (4, 6))
    kept = (torch.arange(6) < torch.tensor([6, 2, 4, 1])[:, None]).long()
    ids, mask = torch.cat([prompts, replies], 1), torch.cat([torch.ones(4, 3).long(), kept], 1)
    taught = torch.cat([torch.zeros(4, 3).long(), kept], 1)
    said, entropies, example = logprobs(trainer.model, ids, mask, taught, trainer.temperature)
    near = [said.detach() + 0.4 * torch.randn(len(said)) for _ in range(2)]
    advantages = torch.tensor([0.8, -1.1, 0.3, -0.5])
    full = [torch.zeros(4, 6).masked_scatter(kept.bool(), column) for column in near]
    batch = {
        "prompt_ids": prompts,
        "prompt_mask": torch.ones(4, 3).long(),
        "completion_ids": replies,
        "completion_mask": kept,
        "advantages": advantages,
        "old_per_token_logps": full[0],
        "ref_per_token_logps": full[1],
        "num_items_in_batch": kept.sum(),
    }
    columns = Columns(
        example=example,
        num_examples=4,
        tokens={"old_logprobs": near[0], "advantage": advantages[example]},
        rows={"divisor": torch.full((4,), 4.0 * 6.0)},
    )
    return batch, Outputs(policy_logprobs=said, reference_logprobs=near[1], entropies=entropies), columns


@pytest.mark.parametrize(
    ("loss_type", "per"), [("grpo", "example"), ("bnpo", "token"), ("dapo", "token"), ("dr_grpo", "divisor")]
)
@pytest.mark.parametrize(
    ("low", "high", "beta", "corrected", "entropy"),
    [(0.2, 0.2, 0.0, False, 0.0), (0.1, 0.3, 0.3, False, 0.0), (0.2, 0.2, 0.3, True, 0.05)],
)
def test_policy_gradient_is_the_grpo_trainers(grpo, loss_type, per, low, high, beta, corrected, entropy):
    grpo.loss_type, grpo.epsilon_low, grpo.epsilon_high, grpo.beta = loss_type, low, high, beta
    grpo.args.steps_per_generation, grpo.args.use_bias_correction_kl = 1, corrected
    grpo.entropy_coef, grpo._entropy_bonus_enabled, grpo.use_adaptive_entropy = entropy, entropy > 0, False
    batch, outputs, columns = rollout(grpo)
    kl = "k3" if beta else "none"
    options = (
        f"clip_range_low={low}, clip_range_high={high}, kl_estimator={kl}, kl_coef={beta}, "
        f"importance_corrected_kl={corrected}, entropy_coef={entropy}, normalize_by={per}"
    )
    loss = read_loss(f"policy_gradient({options})").value
    clipped = loss(outputs, columns, loss.prepare(columns)).means()["clip_fraction"]
    assert 0.0 < clipped < 0.9
    agree(grpo, batch, apply(loss, outputs, columns))

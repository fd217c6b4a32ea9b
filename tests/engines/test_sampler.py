"""Draws come from the very distribution whose log-probabilities are stored, whatever else is drawn beside them."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from plainly import chi_square, shares
from transformers import MinPLogitsWarper

from stratagem.base.consent.table import allow
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games.key import Key
from stratagem.language.engines.base import LIKELIEST, PLAIN, Sampling
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.engines.sampler import Draw, draw, log_distribution, pad_sets
from stratagem.language.models.decoding_settings import read_sampler

SIZE, TIMES = 60, 20_000
KINDS = {
    "plain": PLAIN,
    "cold": Sampling(0.4),
    "hot": Sampling(2.5),
    "top-k": Sampling(top_k=7),
    "one of k": Sampling(1.3, top_k=1),
    "top-p": Sampling(top_p=0.8),
    "min-p": Sampling(min_p=0.3),
    "all of them": Sampling(0.7, top_k=12, top_p=0.9, min_p=0.05),
    "narrow top-p": Sampling(top_p=1e-9),
    "all": Sampling(0.7, top_k=12, top_p=0.9),
    "wide": Sampling(top_k=1000, top_p=0.999999),
    "explored": Sampling(0.7, sampler="epsilon_uniform(epsilon=0.3)"),
    "cut and explored": Sampling(top_p=0.8, sampler="epsilon_uniform(epsilon=0.5)"),
    "uniform": Sampling(sampler="epsilon_uniform(epsilon=1.0)"),
    "never explored": Sampling(sampler="epsilon_uniform(epsilon=0.0)"),
}
SETS = {"whole": None, "some": (0, 3, 4, 5, 8, 21, 22, 40, 59), "two": (11, 58), "one": (30,)}


def logits_of(seed, rows=1, spread=2.0):
    return torch.randn(rows, SIZE, generator=torch.Generator().manual_seed(seed)) * spread


@pytest.mark.parametrize(
    ("kind", "able"),
    [
        *(("plain", "whole"), ("all", "whole"), ("top-k", "whole"), ("cold", "some"), ("top-p", "some")),
        *(("hot", "two"), ("explored", "some"), ("cut and explored", "whole")),
    ],
)
def test_frequencies(kind, able):
    logits, sampling, allowed = logits_of(3), KINDS[kind], SETS[able]
    drawn = draw(logits, [Draw(0, Key(n), n % 5, allowed, sampling) for n in range(TIMES)])
    counts = np.bincount([one.token for one in drawn], minlength=SIZE)
    assert chi_square(counts, shares(logits[0].numpy(), sampling, allowed) * TIMES) < 1.0


@pytest.mark.parametrize("allowed", SETS.values(), ids=SETS)
@pytest.mark.parametrize("sampling", KINDS.values(), ids=KINDS)
def test_the_stored_logprob_is_that_of_the_distribution_by_hand(sampling, allowed):
    logits = logits_of(4)
    chances = shares(logits[0].numpy(), sampling, allowed)
    for one in draw(logits, [Draw(0, Key(n), 0, allowed, sampling) for n in range(300)]):
        assert one.logprob == pytest.approx(math.log(chances[one.token]), abs=1e-5)
        if sampling.truncates:
            assert one.allowed == KeptSet.of(np.flatnonzero(chances), SIZE)
        else:
            assert one.allowed is allowed


@pytest.mark.parametrize("sampling", [*KINDS.values(), LIKELIEST], ids=[*KINDS, "likeliest"])
@pytest.mark.parametrize("seed", range(4))
def test_the_distribution_is_the_one_by_hand(sampling, seed):
    logits = logits_of(seed, rows=8, spread=[0.1, 1.0, 5.0, 60.0][seed])
    found = log_distribution(logits, sampling).double().exp().numpy()
    for row, own in zip(logits, found, strict=True):
        assert own == pytest.approx(shares(row.numpy(), sampling), abs=1e-6)


def mixed_draws(number=200):
    """Every kind of draw, at once, from few rows."""
    kinds = [*KINDS.values(), LIKELIEST]
    sets = list(SETS.values())
    return [
        Draw(n % 7, Key(n // 3), n % 4, sets[n % 4 if n % 5 else 0], kinds[(n // 4 * 7 + n) % len(kinds)])
        for n in range(number)
    ]


def test_a_draw_is_the_same_alone_or_among_others():
    logits, draws = logits_of(5, rows=7), mixed_draws()
    together = draw(logits, draws)
    assert together == [draw(logits, [one])[0] for one in draws]
    assert together[::-1] == draw(logits, draws[::-1])
    assert len({one.token for one in together}) > 20


def test_only_allowed_tokens_are_drawn():
    logits, draws = logits_of(6, rows=7, spread=20.0), mixed_draws(400)
    for asked, drawn in zip(draws, draw(logits, draws), strict=True):
        assert asked.allowed is None or drawn.token in asked.allowed
        assert drawn.logprob <= 0.0


def test_another_key_or_place_is_another_draw():
    logits = torch.zeros(1, SIZE)
    by_key = Counter(one.token for one in draw(logits, [Draw(0, Key(n), 0, None, PLAIN) for n in range(500)]))
    by_place = Counter(one.token for one in draw(logits, [Draw(0, Key(1), n, None, PLAIN) for n in range(500)]))
    assert min(len(by_key), len(by_place)) == SIZE


def test_a_mask_that_leaves_what_would_be_drawn_changes_nothing():
    """The noise is a token's own, so masks that differ little change little of what is said."""
    logits, allowed, met = logits_of(8), tuple(range(0, SIZE, 2)), 0
    for number in range(200):
        (free, masked) = draw(logits, [Draw(0, Key(number), 0, able, PLAIN) for able in (None, allowed)])
        assert masked.token == free.token or free.token not in allowed
        met += free.token in allowed
    assert met > 50


# --- the likeliest, and the cold


def test_at_temperature_zero_the_first_of_the_largest_is_taken_for_certain():
    logits = torch.tensor([[1.0, 5.0, 5.0, 2.0], [7.0, 7.0, 7.0, 7.0]])
    for row, allowed, best in [(0, None, 1), (0, (0, 2, 3), 2), (1, None, 0), (1, (2, 3), 2), (0, (0, 3), 3)]:
        drawn = draw(logits, [Draw(row, Key(n), n, allowed, LIKELIEST) for n in range(20)])
        assert drawn == [(best, 0.0, allowed)] * 20


@pytest.mark.parametrize("temperature", [1e-3, 1e-6, 1e-30, 1e-38, 1e-45, 1e-300])
def test_a_temperature_close_to_zero_is_no_overflow(temperature):
    logits = logits_of(9, rows=5, spread=50.0)
    for allowed in SETS.values():
        for drawn, row in zip(
            draw(logits, [Draw(n, Key(n), 0, allowed, Sampling(temperature)) for n in range(5)]), logits, strict=True
        ):
            able = range(SIZE) if allowed is None else allowed
            assert drawn[:2] == (max(able, key=lambda token: row[token]), 0.0)


def test_ties_in_top_k_go_to_the_first():
    chances = log_distribution(torch.zeros(1, 5), Sampling(top_k=2)).exp()[0]
    assert chances.tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0, 0.0])


def test_short_numbers_are_drawn_from_in_full():
    logits = logits_of(2).bfloat16()
    chances = shares(logits[0].float().numpy(), PLAIN)
    drawn = draw(logits, [Draw(0, Key(n), 0, SETS["some"] if n % 2 else None, PLAIN) for n in range(50)])
    for one in drawn[::2]:
        assert one.logprob == pytest.approx(math.log(chances[one.token]), abs=1e-5)


def test_padding_marks_what_is_not_there():
    tokens, absent = pad_sets([(5, 6, 7), (1,), (9, 2)], torch.device("cpu"))
    assert [[token for token, gone in zip(*rows, strict=True) if not gone] for rows in zip(
        tokens.tolist(), absent.tolist(), strict=True)] == [[5, 6, 7], [1], [9, 2]]  # fmt: skip


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("temperature", [0.6, 1.0, 2.0])
def test_min_p_is_that_of_the_paper_as_transformers_has_it(share, temperature):
    """Nguyen et al. 2025 (arXiv 2407.01082), eq. 2 and 3: tokens with `p >= p_base max p`, renormalised."""
    logits = logits_of(5, rows=20)
    cut = MinPLogitsWarper(min_p=share)(None, logits / temperature)
    found = log_distribution(logits, Sampling(temperature, min_p=share))
    assert torch.allclose(found.exp(), torch.softmax(cut, -1), atol=1e-6)
    assert torch.equal(torch.isinf(found), torch.isinf(cut))
    assert (share == 1.0) == bool((found.exp().amax(-1) == 1.0).all())


@pytest.mark.parametrize("min_p", [-0.1, 1.5, math.nan])
def test_min_p_is_a_share(min_p):
    with pytest.raises(BadParameter, match="min_p is a share from 0 to 1"):
        Sampling(min_p=min_p)


# --- samplers by name

FAULTY = """
import torch
from stratagem.language.models.decoding_settings import Sampler


class Faulty(Sampler):
    def behaviour_logprobs(self, policy_logprobs):
        return {change}
"""
FAULTS = {
    "policy_logprobs - 1.0": "must return log-probabilities whose probabilities sum to 1",
    "policy_logprobs * float('nan')": "must leave the tokens that can come as they are",
    "torch.log_softmax(torch.zeros_like(policy_logprobs), -1)": "must leave the tokens that can come as they are",
    "torch.log_softmax(policy_logprobs.masked_fill(policy_logprobs < -2.0, -torch.inf), -1)": "must leave the tokens",
    "policy_logprobs[..., :1]": "must return a log-probability for each that it gets",
    "None": "must return a log-probability for each that it gets",
}


@pytest.mark.parametrize("change", FAULTS)
def test_a_sampler_that_is_no_distribution_over_what_can_come_is_refused(tmp_path, change):
    file = tmp_path / f"faulty_{list(FAULTS).index(change)}.py"
    file.write_text(FAULTY.format(change=change))
    allow(str(file))
    draws = [
        Draw(0, Key(1), 0, SETS["some"], Sampling(sampler=f"{file}:Faulty")),
        Draw(1, Key(1), 0, SETS["two"], PLAIN),
    ]
    draws.append(draws[0]._replace(allowed=SETS["two"]))  # its row is padded, and what fills it up cannot come
    with pytest.raises(BadParameter, match=FAULTS[change]):
        draw(logits_of(3, rows=2), draws)


def test_the_likeliest_knows_no_sampler():
    logits, sampling = logits_of(3), Sampling(0.0, sampler="epsilon_uniform(epsilon=1.0)")
    assert draw(logits, [Draw(0, Key(2), 0, None, sampling)]) == draw(logits, [Draw(0, Key(2), 0, None, LIKELIEST)])
    assert not sampling.explores


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("epsilon_uniform(epsilon=1.5)", "epsilon"),
        ("epsilon_uniform(share=0.5)", "it has no option share; its options are epsilon"),
        ("epsilon_unifrom", "There is no sampler called 'epsilon_unifrom': did you mean epsilon_uniform?"),
    ],
)
def test_a_mistake_in_a_sampler_is_one_sentence(text, sentence):
    with pytest.raises(StratagemError, match=re.escape(sentence)):
        read_sampler(text)


def test_the_sampler_of_the_page_is_the_example_and_draws_by_its_mixture():
    root = Path(__file__).parents[2]
    page = (root / "docs" / "how-to" / "explore.md").read_text("utf-8")
    assert f"```python\n{(root / 'examples' / 'samplers.py').read_text('utf-8')}```\n" in page
    allow(str(root / "examples" / "samplers.py"))
    text = f"{root / 'examples' / 'samplers.py'}:HotMixture(share=0.25, temperature=2.0)"
    logits, own = logits_of(3, rows=4), Sampling(0.7, sampler=text)
    parts = [log_distribution(logits, Sampling(temperature)).exp() for temperature in (0.7, 1.4)]
    assert torch.allclose(log_distribution(logits, own).exp(), 0.75 * parts[0] + 0.25 * parts[1], atol=1e-6)

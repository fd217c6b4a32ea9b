"""Log-probabilities a chunk at a time: the same numbers and gradients as in one go, in a fraction of the memory."""

import pytest
import torch

from forks import forked_program
from stratagem.language.engines.kept_set import KeptSet
from stratagem.learn.logprobs import Head, TokenQueries, token_outputs

SIZE, HIDDEN, NUMBER = 97, 12, 23
COLUMNS = ("logprobs", "entropies", "expected")


def head(*, trained=False, cap=None):
    torch.manual_seed(4)
    layer = torch.nn.Linear(HIDDEN, SIZE, bias=False).requires_grad_(trained)
    logits = layer if cap is None else lambda hidden: torch.tanh(layer(hidden) / cap) * cap
    return Head(logits, SIZE, trained), layer.weight


def allowed_set(row, token):
    """Sets of guides, and kept sets of few, of half and of nearly all tokens; elsewhere there is none."""
    if row % 3 == 0:
        return tuple(sorted({token, 3, 50, 91}))
    ids = {2: {token, 4}, 5: {token, *range(0, SIZE, 2)}, 8: {*range(SIZE)} - {(token + 1) % SIZE}}.get(row)
    return ids and KeptSet.of(sorted(ids), SIZE)


def wanted(*, sets=True):
    rng = torch.Generator().manual_seed(2)
    tokens = torch.randint(SIZE, (NUMBER,), generator=rng).tolist()
    allowed = [allowed_set(row, token) if sets else None for row, token in enumerate(tokens)]
    targets = [{5: 0.25, 8: 0.75} if row % 3 == 1 else None for row in range(NUMBER)]
    narrow = [(3, 50) if row % 4 == 0 else (3, 50, 91) if row % 4 == 3 else None for row in range(NUMBER)]
    return TokenQueries(
        tokens, [0.7 if row % 2 else 1.0 for row in range(NUMBER)], allowed, targets, narrow if sets else ()
    )


def in_one_go(head_, hidden, asked):
    """The same by the book."""
    rows = []
    for row in range(NUMBER):
        logits = head_.logits(hidden[row]) / asked.temperatures[row]
        if asked.allowed[row] is not None:
            keep = torch.zeros(SIZE, dtype=torch.bool)
            keep[list(asked.allowed[row])] = True
            logits = logits.masked_fill(~keep, float("-inf"))
        every = torch.log_softmax(logits, -1)
        finite = every[every.isfinite()]
        if asked.entropy_over and asked.entropy_over[row] is not None:
            plain = head_.logits(hidden[row]) / asked.temperatures[row]
            finite = torch.log_softmax(plain[list(asked.entropy_over[row])], -1)
        expected = sum((share * every[token] for token, share in (asked.targets[row] or {}).items()), torch.zeros(()))
        rows.append(torch.stack([every[asked.tokens[row]], -(finite.exp() * finite).sum(), expected]))
    return torch.stack(rows, dim=1)


def states():
    return torch.randn(NUMBER, HIDDEN, generator=torch.Generator().manual_seed(9)).requires_grad_()


@pytest.mark.parametrize("cap", [None, 2.0])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, NUMBER, None])
@pytest.mark.parametrize("back", [COLUMNS, ("logprobs",), ("entropies",), ("expected", "logprobs")])
def test_values_and_gradients_are_those_of_one_go(chunk, trained, cap, back):
    (head_, weight), asked, hidden = head(trained=trained, cap=cap), wanted(), states()
    ours, plain = token_outputs(head_, hidden, asked, chunk), in_one_go(head_, hidden, asked)
    into = [hidden, weight] if trained else [hidden]
    given = torch.randn(len(COLUMNS), NUMBER)
    rows = [COLUMNS.index(name) for name in back]
    totals = [(values[rows] * given[rows]).sum() for values in (torch.stack(ours[:3]), plain)]
    assert torch.allclose(torch.stack(ours[:3]), plain, atol=1e-5)
    for one, other in zip(torch.autograd.grad(totals[0], into), torch.autograd.grad(totals[1], into), strict=True):
        assert other.abs().max() > 1e-2
        assert torch.allclose(one, other, atol=1e-5)


def test_two_gradients_can_be_taken_of_one_pass():
    (head_, _), asked, hidden = head(), wanted(), states()
    ours, plain = token_outputs(head_, hidden, asked, 5).logprobs, in_one_go(head_, hidden, asked)[0]
    for row in (0, 20):
        (one,) = torch.autograd.grad(ours[row], hidden, retain_graph=True)
        (other,) = torch.autograd.grad(plain[row], hidden, retain_graph=True)
        assert torch.allclose(one, other, atol=1e-5)


def test_without_gradients_nothing_is_kept():
    (head_, _), asked = head(), wanted()
    with torch.no_grad():
        assert token_outputs(head_, states(), asked, 5).logprobs.grad_fn is None
    assert token_outputs(head_, states().detach(), asked, 5).logprobs.grad_fn is None


PEAK = """
import sys, torch
from pathlib import Path
from stratagem.language.engines.kept_set import KeptSet
from stratagem.learn.logprobs import Head, TokenQueries, token_outputs

def kilobytes(name):
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if name in line)

torch.set_num_threads(1)
tokens, size, hidden, chunk, sets = map(int, sys.argv[1:])
head = Head(torch.nn.Linear(hidden, size, bias=False).requires_grad_(False), size, False)
states = torch.randn(tokens, hidden).requires_grad_()
kept = KeptSet.of(range(0, size, 2), size) if sets else None
wanted = TokenQueries([6] * tokens, [1.0] * tokens, [kept] * tokens, [None] * tokens)
token_outputs(head, states[:1], wanted.part(slice(0, 1))).logprobs.sum().backward()
Path("/proc/self/clear_refs").write_text("5")
before = kilobytes("VmRSS")
token_outputs(head, states, wanted, chunk or None).logprobs.sum().backward()
print(kilobytes("VmHWM") - before)
"""
TOKENS, ENTRIES = 512, 262_144
WHOLE = 4 * TOKENS * ENTRIES * 4 / 1024
"""The peak of the unchunked computation is the logits, their log-softmax, and the gradients of both."""


def peak(folder, chunk, tokens=TOKENS, sets=0):
    """Kilobytes at the most, forward and backward, on top of what the process held before: head and states apart."""
    status, printed = forked_program(PEAK, tokens, ENTRIES, 8, chunk, sets, work=folder, scratch=folder)
    assert status == 0, printed
    return int(printed)


@pytest.mark.runs
@pytest.mark.linux
def test_chunks_of_the_default_size_need_an_eighth_of_the_memory(tmp_path):
    assert 8 * peak(tmp_path, 0) <= WHOLE
    assert 8 * peak(tmp_path, TOKENS // 4) > WHOLE


@pytest.mark.runs
@pytest.mark.linux
def test_memory_with_kept_sets_of_half_the_vocabulary_is_that_of_a_chunk(tmp_path):
    assert 3 * peak(tmp_path, 0, TOKENS // 2, 1) <= WHOLE / 2

"""Allowed sets as tensors."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from stratagem.decoding.masks import masked, torch_mask  # noqa: E402


def test_a_mask_is_true_where_allowed():
    rows = [(0, 3), (), (4,)]
    expected = [[1, 0, 0, 1, 0], [0] * 5, [0, 0, 0, 0, 1]]
    assert torch_mask(rows, 5).int().tolist() == expected
    assert torch_mask(rows, 5, "cpu").dtype == torch.bool
    assert torch_mask([], 5).shape == (0, 5)


def test_masked_logits_keep_what_is_allowed():
    logits = torch.arange(10.0).reshape(2, 5)
    shut = masked(logits, [(1, 2), (4,)])
    assert shut[0].tolist() == [-torch.inf, 1.0, 2.0, -torch.inf, -torch.inf]
    assert shut[1].argmax().item() == 4
    assert logits.isfinite().all()


def test_the_package_loads_without_torch():
    names = ("exact", "masks", "sheet", "spelling", "stopping", "stream", "trie", "vocabulary", "walker")
    program = f"import {', '.join('stratagem.decoding.' + name for name in names)}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"torch", "transformers", "tokenizers", "numpy"} & {
        name.split(".")[0] for name in run.stdout.split()
    } == set()

"""An adapter's dropout is at work within `dropping` and nowhere else; an average follows the adapter it is of."""

import pytest
import torch
from spoken import logits

from stratagem.games.key import Key
from stratagem.language.models.adapters import (
    active,
    adapter_parameters,
    add_adapter,
    average_adapter,
    copy_adapter,
    dropout_of,
    dropping,
    load_adapter,
    save_adapter,
)
from stratagem.language.models.reference import BadModel


def shaken(model, name, seed=1):
    torch.manual_seed(seed)
    with torch.no_grad():
        for weight in adapter_parameters(model, name):
            weight += 0.05 * torch.randn_like(weight)


def test_dropout_is_at_work_within_dropping_alone_and_draws_by_its_key(tiny):
    add_adapter(tiny, "one", rank=4, alpha=8, dropout=0.5)
    shaken(tiny, "one")
    with active(tiny, "one"):
        sober, random = logits(tiny), torch.random.get_rng_state()
        drawn = []
        for key in (Key(1), Key(1), Key(2)):
            with dropping(tiny, "one", key):
                drawn.append(logits(tiny))
        assert torch.equal(torch.random.get_rng_state(), random)
        assert torch.equal(logits(tiny), sober)
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert (drawn[0] - sober).abs().max() > 0.01
    assert not any(module.training for module in tiny.model.modules())


def test_without_dropout_nothing_is_changed(tiny):
    add_adapter(tiny, "one", rank=4, alpha=8)
    shaken(tiny, "one")
    with active(tiny, "one"), dropping(tiny, "one", Key(1)):
        dropped = logits(tiny)
    with active(tiny, "one"):
        assert torch.equal(logits(tiny), dropped)
    with dropping(tiny, None, Key(1)):
        assert not any(module.training for module in tiny.model.modules())


def test_only_the_named_adapter_drops(tiny):
    for name in ("one", "two"):
        add_adapter(tiny, name, rank=4, alpha=8, dropout=0.5)
        shaken(tiny, name)
    with active(tiny, "two"):
        sober = logits(tiny)
        with dropping(tiny, "one", Key(1)):
            assert torch.equal(logits(tiny), sober)


def test_a_saved_adapter_keeps_its_dropout(tiny, tmp_path):
    add_adapter(tiny, "one", rank=4, alpha=8, dropout=0.25)
    save_adapter(tiny, "one", tmp_path / "saved")
    load_adapter(tiny, tmp_path / "saved", "again")
    assert (dropout_of(tiny, "one"), dropout_of(tiny, "again")) == (0.25, 0.25)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_dropout_that_is_no_share_is_refused(tiny, share):
    with pytest.raises(BadModel, match="a share from 0 to below 1"):
        add_adapter(tiny, "one", rank=4, alpha=8, dropout=share)


def test_a_copy_says_the_same_and_is_not_trained(tiny):
    add_adapter(tiny, "one", rank=4, alpha=8, targets=["q_proj"], seed=3)
    shaken(tiny, "one")
    copy_adapter(tiny, "one", "twin")
    with active(tiny, "one"), active(tiny, "twin"):
        twin = logits(tiny)
    with active(tiny, "one"):
        assert torch.equal(logits(tiny), twin)
    assert all(weight.requires_grad for weight in adapter_parameters(tiny, "one"))
    assert not any(weight.requires_grad for weight in adapter_parameters(tiny, "twin"))
    shaken(tiny, "one")
    with active(tiny, "twin"):
        assert torch.equal(logits(tiny), twin)


def test_an_average_goes_so_much_of_the_way(tiny):
    for name in ("one", "two"):
        add_adapter(tiny, name, rank=2, alpha=4, seed=1)
        shaken(tiny, name, seed=len(name) + ord(name[0]))
    before = [weight.detach().clone() for weight in adapter_parameters(tiny, "one")]
    source = [weight.detach().clone() for weight in adapter_parameters(tiny, "two")]
    average_adapter(tiny, "one", "two", 0.75)
    for was, theirs, now in zip(before, source, adapter_parameters(tiny, "one"), strict=True):
        torch.testing.assert_close(now, 0.75 * was + 0.25 * theirs)
    assert all(torch.equal(a, b) for a, b in zip(source, adapter_parameters(tiny, "two"), strict=True))

"""Counts add up, and prices are read from the environment."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.language.engines.remote.tally import EngineTally, Prices, prices_from_environment, prices_of, use_prices


def test_counts_add_up_at_the_prices_of_the_first():
    prices = Prices(prompt=1.0, reply=2.0)
    counts = {"num_requests": 1, "num_retries": 2, "num_errors": 3, "num_prompt": 4, "num_reply": 5}
    both = EngineTally(prices=prices, **counts).plus(EngineTally(**counts))
    assert both == EngineTally(prices=prices, **{name: 2 * count for name, count in counts.items()})
    assert both.price == pytest.approx((8 * 1.0 + 10 * 2.0) / 1e6)


@pytest.mark.parametrize(
    ("text", "model", "prices"),
    [
        ("0.15/0.60", "any", (0.15, 0.6)),
        (" 3 / 15 ", "any", (3, 15)),
        ("0/.5", "any", (0, 0.5)),
        ("small=1/2, large=3/4", "large", (3, 4)),
        ("small=1/2, 3/4", "small", (1, 2)),
        ("small=1/2, 3/4", "other", (3, 4)),
        ("owner/name=v2=1/2", "owner/name=v2", (1, 2)),
        ("small=1/2", "other", None),
        ("", "any", None),
        (",", "any", None),
    ],
)
def test_prices_are_read(monkeypatch, text, model, prices):
    monkeypatch.setenv("STRATAGEM_PRICE", text)
    assert prices_from_environment(model) == (prices and Prices(prompt=prices[0], reply=prices[1]))


@pytest.mark.parametrize("text", ["1", "1/", "/2", "1/2/3", "-1/2", "cheap", "1,5/2", "nan/1", "m=1"])
def test_prices_that_are_none_are_refused(monkeypatch, text):
    monkeypatch.setenv("STRATAGEM_PRICE", text)
    with pytest.raises(BadParameter, match=r"STRATAGEM_PRICE is prices of a million tokens"):
        prices_from_environment("m")


def test_list_of_the_command_counts_before_the_environment_and_its_longest_pattern_before_others(monkeypatch):
    monkeypatch.setenv("STRATAGEM_PRICE", "9/9")
    cheap, dear, own = (Prices(prompt=price, reply=price) for price in (1.0, 2.0, 3.0))
    with use_prices({"gpt-*": cheap, "gpt-large-*": dear, "gpt-large-1": own}):
        assert [prices_of(name) for name in ("gpt-small", "gpt-large-2", "gpt-large-1")] == [cheap, dear, own]
        assert prices_of("other") == Prices(prompt=9.0, reply=9.0)
    assert prices_of("gpt-small") == Prices(prompt=9.0, reply=9.0)

"""The table of reasoning models: limits that are apart, and the cards that reasons name."""

from types import SimpleNamespace

import pytest
import sepo_reasoned
from sepo_reasoned import STAGES, TRAINED


def model(lower, upper):
    return {"lower": lower, "upper": upper, "point": (lower + upper) / 2, "num_replies": 1800}


def test_a_row_says_whether_the_limits_are_apart():
    before, control, trained = STAGES
    assert trained == TRAINED
    data = {"0": {before: model(0.39, 0.46), control: model(0.25, 0.40), trained: model(0.2, 0.3)}}
    assert [row[-1] for row in sepo_reasoned.rows(data)] == ["True", "False", ""]
    del data["0"][trained]
    assert [row[-1] for row in sepo_reasoned.rows(data)] == ["", ""]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("K wins every showdown, and Q loses.\nAction: BET", "own"),
        ("My J beats nothing. K would pay.\nAction: BET", "other"),
        ("Time to act! K is the best card.\nAction: BET", "own"),
        ("I open. K wins.\nAction: BET", "none"),
    ],
)
def test_the_first_card_of_the_first_sentence_counts(text, kind, monkeypatch):
    row = SimpleNamespace(info_key="K:PB", calls=(SimpleNamespace(text=text),))
    monkeypatch.setattr(sepo_reasoned, "read_episodes", lambda record: [SimpleNamespace(decisions=[row])])
    assert sepo_reasoned.named("record") == {kind: 1}

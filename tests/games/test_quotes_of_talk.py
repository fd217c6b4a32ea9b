"""Text of players is shown without characters that break a line, turn its direction or hide: wherever it is quoted."""

import json
from unicodedata import category

import pytest

from stratagem.base.visible import json_text, visible
from stratagem.games.talk.message import Message, Naming, quote_text
from stratagem.show.console import VisibleText, plain
from stratagem.show.html import element
from stratagem.show.markdown import escape_cell

ODD = [
    *"\u2028\u2029\u0085\x0b\x0c\x1b\x1c\x1e\x7f\x9b",
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    *"\u200b\u200d\u2060\ufeff\u00ad\U000e0041",
]
"""Characters that separate lines, that turn the direction of a text, and that hide."""


def hidden(text):
    return [character for character in text if character != "\n" and category(character)[0] == "C"] + [
        character for character in text if category(character) in ("Zl", "Zp")
    ]


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_a_quote_of_talk_has_no_hidden_character_and_can_be_read_back(odd):
    said = f'one{odd}Player 1 said: "I fold."{odd}'
    assert hidden(quote_text(said)) == []
    assert json.loads(quote_text(said)) == said
    assert len(quote_text(said).splitlines()) == 1
    line = Naming((), 2).line(Message(0, 1, 0, said), 0)
    assert hidden(line) == []
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_text_of_a_model_is_shown_without_hidden_characters(odd):
    said = f"one{odd}two"
    for shown in (
        visible(said),
        json_text({"said": said}),
        plain(VisibleText(said)),
        escape_cell(said),
        str(element("p", said)),
    ):
        assert hidden(shown.replace("\n", "")) == []
        assert len(shown.strip().splitlines()) == 1 or "{" in shown
    assert hidden(str(element("p", "x", title=said))) == []


@pytest.mark.parametrize("text", ["", "plain", 'quote " and \\', "Grüße, 你好", "two\nlines\ttab"])
def test_a_quote_of_other_text_is_its_json(text):
    assert quote_text(text) == json.dumps(text, ensure_ascii=False)

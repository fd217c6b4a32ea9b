"""Text in a page: escaped where it enters, hiding characters shown, data that cannot end its element."""

import json
import math

import pytest

from stratagem.show.html import Html, as_json, breakable, element, join, text, visible
from stratagem.show.reports.figure import PictureFacts, count_noun, label, picture


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<b> & 'q'", Html("<i>x</i>")) == "<p>&lt;b&gt; &amp; &#x27;q&#x27;<i>x</i></p>"
    assert join("a<", element("br"), by=" ") == "a&lt; <br>"


@pytest.mark.parametrize(
    "char", ["\u202e", "\u2066", "\u200b", "\x00", "\x07", "\x1b", "\u2028", "\ud800", "\ufdd0", "\r"]
)
def test_characters_that_hide_are_shown_by_their_number(char):
    number = f"U+{ord(char):04X}"
    assert text(f"a{char}b") == f'a<span class="odd">{number}</span>b'
    assert visible(f"a{char}b") == f"a[{number}]b"
    assert char not in element("p", "x", title=f"y{char}")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("kuhn.payoff_random", "kuhn.<wbr>payoff_<wbr>random"),
        ("run:runs/TightValue@20", "run:runs/<wbr>Tight<wbr>Value@20"),
        ("takes part, or not", "takes part, or not"),
        ("<b>.x", "&lt;b&gt;.<wbr>x"),
        ("noise(p=0.5,q=1)", "noise(p=<wbr>0.5,<wbr>q=<wbr>1)"),
        ("\u202e.x", '<span class="odd">U+202E</span>.<wbr>x'),
    ],
)
def test_a_name_breaks_between_its_parts_and_is_escaped(name, shown):
    assert breakable(name) == shown
    assert breakable(Html("<i>a.b</i>")) == "<i>a.b</i>"


def test_what_people_write_stays():
    said = "Größe\n\t→ 中文 😀 עברית"
    assert text(said) == said


def test_attributes():
    assert element("a", "x", class_="y", aria_label='">', hidden=True, open=False) == (
        '<a class="y" aria-label="&quot;&gt;" hidden>x</a>'
    )


def test_a_tag_comes_from_the_code_alone():
    with pytest.raises(ValueError, match="is no tag"):
        element("script><b")


def test_data_cannot_end_its_element_and_is_what_it_was():
    data = {"</script><!--": ["\u2028<b>&", 0.1 + 0.2, -0.0]}
    said = as_json(data)
    assert not set(said) & set("<>&\u2028")
    assert json.loads(said) == data


def test_what_is_not_finite_is_null():
    assert json.loads(as_json([math.nan, [math.inf], {"a": -math.inf}, 1])) == [None, [None], {"a": None}, 1]


def test_label_of_a_picture_is_text():
    assert label("<a href='x'>\u202e") == "<a href='x'>[U+202E]"


def test_picture_tells_unit_number_interval_and_chance_level():
    markup = picture("Payoff", [], reading=PictureFacts("points", count_noun(1), chance="0.5"))
    assert "Unit: points. n: 1 step. Interval: none, one run. Chance level: 0.5." in markup
    assert markup.count("Chance level") == 2, "in the text, and for readers of the screen"

"""Templates and JSON schemas as constraints of open text: what they admit, how a reply is read, what is refused."""

import json

import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import Key, make_game
from stratagem.games.catalogue import describe
from stratagem.games.choices import Flat
from stratagem.games.conformance.verify import verify
from stratagem.games.json_form import json_form
from stratagem.games.open_text import OpenText
from stratagem.games.templates import template_of
from stratagem.games.text_parts import draw_text, longest, num_texts, texts_of

PLAN = {
    "type": "object",
    "properties": {
        "plan": {"enum": ["bet", "fold"]},
        "sure": {"type": "boolean"},
        "cards": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 3},
            "minItems": 1,
            "maxItems": 2,
        },
        "note": {"type": "string", "maxLength": 5},
    },
}
FORM = json_form(PLAN)
LINE = '{"plan": "bet", "sure": true, "cards": [1, 3], "note": "hi"}'


@pytest.mark.parametrize("change", [{}, {"sure": False}, {"cards": [2]}, {"note": ""}, {"note": "é日!"}])
def test_a_json_text_is_read_whatever_its_spaces(change):
    value = json.loads(LINE) | change
    written = json.dumps(value, ensure_ascii=False)
    for text in (written, json.dumps(value, separators=(",", ":")), f"`{json.dumps(value)}`"):
        assert FORM.read(text) == written


@pytest.mark.parametrize(
    "change",
    [
        {"plan": "raise"},
        {"sure": 1},
        {"cards": []},
        {"cards": [1, 2, 3]},
        {"cards": [4]},
        {"cards": [True]},
        {"note": "toolong"},
        {"note": 'a"b'},
        {"note": "a\nb"},
        {"note": None},
        {"more": 1},
    ],
)
def test_a_value_of_another_form_is_no_line(change):
    assert FORM.read(json.dumps(json.loads(LINE) | change)) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", LINE[:-1], "[" * 4000, '{"plan": NaN}'])
def test_what_is_no_such_json_is_no_line(text):
    assert FORM.read(text) is None


def test_texts_that_are_drawn_are_admitted():
    for seed in range(40):
        text = draw_text(FORM.part, Key(seed))
        assert FORM.read(text) == text
        assert len(text) <= longest(FORM.part)


def test_a_form_without_strings_lists_all_its_texts():
    form = json_form({"type": "object", "properties": {"a": PLAN["properties"]["cards"], "b": {"const": None}}})
    texts = list(texts_of(form.part))
    assert len(set(texts)) == len(texts) == num_texts(form.part) == 3 + 9
    assert all(form.read(text) == text for text in texts)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ("not json", "must be JSON"),
        ("[1]", "of an object"),
        ({"type": "string", "maxLength": 3}, "of an object"),
        ({"type": "object"}, "has no properties"),
        (
            {"type": "object", "properties": {"a": {"type": "number"}}},
            "`a` has the type 'number': supported are objects",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}},
            "keyword 'pattern': supported are",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}}, "has the type None"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "needs maxLength"),
        ({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3000}}}, "2000 are the limit"),
        ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}}, "needs maximum"),
        ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3, "maximum": 2}}}, "minimum above"),
        ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 10**6}}}, "10000 values"),
        ({"type": "object", "properties": {"a": {"type": "array", "maxItems": 3}}}, "items of `a`"),
        ({"type": "object", "properties": {"a": {"type": "array", "items": {"const": 1}}}}, "needs maxItems"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": {"const": 1}, "maxItems": 10**9}}},
            "50 items",
        ),
        ({"type": "object", "properties": {"a": {"enum": []}}}, "no list of plain values"),
        ({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a"]}, "may be absent"),
        ({"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": True}, "other properties"),
        ({"type": "object", "properties": {"a": 3}}, "no schema of its own"),
        ({"type": ["object", "null"]}, "of an object"),
    ],
)
def test_a_schema_beyond_the_supported_part_is_refused_in_a_sentence(schema, why):
    with pytest.raises(BadParameter, match=why) as refused:
        json_form(schema)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        (
            "I will {play}",
            r"field \{play\}: a field is one of \{action\}, \{seat\}, or lists its own words as \{yes\|no\}",
        ),
        ("I will {action", "not closed"),
        ("I } will", "not closed"),
        ("a {x|}", r"\{x\|\}"),
        ("two  spaces", "one plain line"),
        ("a\nb", "one plain line"),
        (" ", "one plain line"),
    ],
)
def test_an_impossible_template_is_refused_in_a_sentence(template, why):
    with pytest.raises(BadParameter, match=why):
        make_game(f"talk(ipd, templates=[{template!r}])")


def test_a_template_is_read_whatever_case_and_closing_marks():
    template = template_of("{I|We} take {some|none} of {item}", {"item": ("books", "hats")})
    assert template.read("  i TAKE   none of Hats. ") == "I take none of hats"
    assert template.read("**We take some of books**") == "We take some of books"
    for line in ("I take hats", "I take none of hats, or books", "I take none of hats?", ""):
        assert template.read(line) is None
    assert "{item}: books, hats" in template.summary()


def test_a_template_of_few_texts_is_the_set_of_its_texts():
    game = make_game("talk(ipd, intents=[], templates=['I {will|may} {action}', 'Hm'])")
    assert list(game.start(Key(0)).view(0).choices) == [
        "SILENT",
        *(f"I {how} {action}" for how in ("will", "may") for action in ("COOPERATE", "DEFECT")),
        "Hm",
    ]
    assert isinstance(game.start(Key(0)).view(0).choices, Flat)


def test_a_sentence_of_the_language_stands_once():
    game = make_game("talk(ipd, templates=['I will play {action}'])")
    assert len(list(game.start(Key(0)).view(0).choices)) == 5


def test_a_template_says_what_its_language_may_not():
    game = make_game("talk(ipd, intents=[], templates=['I will play {action}'])")
    assert list(game.start(Key(0)).view(0).choices)[1:] == ["I will play COOPERATE", "I will play DEFECT"]
    with pytest.raises(BadParameter, match="no language of these kinds"):
        make_game("talk(ipd, intents=[], templates=['{SILENT|silent}'])")


def test_a_template_of_many_texts_stays_open():
    game = make_game("talk(negotiation-v1(pie=20), intents=[], templates=['{seat} gets {amount} or {amount}'])")
    choices = game.start(Key(0)).view(0).choices
    assert isinstance(choices, OpenText)
    assert choices.parse("player 0 gets 21 or 3").action is None
    assert choices.parse("PLAYER 0 gets 20 or 3.").action == "player 0 gets 20 or 3"
    with pytest.raises(CannotCompute, match="`schema`"):
        game.vocabulary()


def test_constraints_are_a_part_of_the_name():
    game = make_game(f"talk(kuhn, intents=[], schema={json.dumps(PLAN)})")
    assert make_game(describe(game)) == game
    state = game.start(Key(0))
    assert state.view(0).choices.parse(LINE.replace(" ", "")).action == LINE
    state.play({0: LINE, 1: "SILENT"})
    assert LINE.replace('"', '\\"') in state.view(1).situation


def test_free_text_and_a_constraint_exclude_each_other():
    with pytest.raises(BadParameter, match="`limit` for free text"):
        make_game("talk(ipd, limit=20, templates=[Hm])")


def test_it_conforms():
    game = make_game(f"talk(kuhn(hands=1), intents=[], schema={json.dumps(PLAN)})")
    report = verify(game, episodes=3)
    assert report.ok, str(report)

"""Files of sentences: they say what they said as tables of Python, and a mistake names the file and the key."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.sentences.reading import SentenceFile, read_sentences
from stratagem.games import Key, make_game
from stratagem.games.talk import Language, Plays, language_of, reading_rules
from stratagem.games.talk import language as language_module
from stratagem.games.talk.catalogue import LANGUAGES
from stratagem.games.talk.reading_rules import rules_of
from stratagem.games.talk.rule_reading import RuleReader
from stratagem.learn.demonstrations.reasoning.catalogue import REASONERS
from stratagem.measure.talk.paraphrases import texts_named, texts_of

ROOT = Path(__file__).parents[2]
FILES = ("injections", "languages", "paraphrases", "reasons")
SPOKEN = (
    *("ipd", "kuhn", "negotiation-v1", "negotiation-v2", "diplomacy(judged=False)", "public-goods", "auction"),
    *("liars-dice", "resistance"),
    "matrix(labels=[A,B,C], labels_second=[A,B,C], "
    "payoffs=[[(3, 3), (0, 5), (1, 1)], [(5, 0), (1, 1), (0, 0)], [(5, 0), (1, 1), (0, 0)]])",
)


def digest(data):
    return hashlib.sha256(json.dumps(data, ensure_ascii=False).encode()).hexdigest()[:16]


def test_languages_say_and_read_what_they_did():
    languages = [(name, language_of(make_game(name))) for name in SPOKEN]
    rows = [
        [name, [intent.text for intent in spoken.every], spoken.spellings(), spoken.sets(), spoken.rules_of_reading()]
        for name, spoken in languages
    ]
    assert digest(rows) == "aae34319adbc513c"


def test_paraphrases_are_the_texts_that_they_were():
    file = read_sentences("paraphrases")
    games = {name: "diplomacy(judged=False)" if name == "diplomacy" else name for name in file.table("games")}
    words = [{word: file.texts(f"{table}.{word}") for word in file.table(table)} for table in ("words", "other_words")]
    texts = {family: texts_of(make_game(name)) for family, name in games.items()}
    assert digest([texts, *words, texts_named("hostile")]) == "14d83ad2468058b5"


def test_injections_are_the_texts_that_they_were():
    file = read_sentences("injections")
    edges = [("", *file.texts(key)) for key in ("before", "after")]
    assert digest([file.texts("commands"), file.texts("neutral"), *edges]) == "d87139ed261bb428"


def reasons_given(name):
    """Return the reasons of every demonstrator for some actions at the positions of some random games."""
    game, rows = make_game(name), []
    for seed in range(8):
        state, key, turn = game.start(Key(seed)), Key(seed), 0
        while not state.over:
            actions = {}
            for seat in state.to_act:
                view = state.view(seat)
                tried = [view.choices.sample(key.at("tried", turn, seat, n)) for n in range(6)]
                for demonstrator, reasoner in REASONERS[game.spec.family].items():
                    rows += [(demonstrator, given(reasoner, view, action)) for action in dict.fromkeys(tried)]
                actions[seat] = tried[0]
            state.play(actions)
            turn += 1
    return rows


def given(reasoner, view, action):
    """Return the reasons for an action; None where the demonstrator never takes it."""
    try:
        return reasoner(view, action)
    except StratagemError:
        return None


@pytest.mark.parametrize(
    ("game", "expected"),
    [
        ("ipd", "f86234e3bed5773b"),
        ("kuhn", "eb1974ff8002845a"),
        ("auction", "538783d35de7f711"),
        ("negotiation-v1", "8f6c0c39c67d4ef8"),
        ("negotiation-v2", "a4a8af20466a7914"),
    ],
)
def test_reasons_are_the_texts_that_they_were(game, expected):
    assert digest(reasons_given(game)) == expected


def test_every_language_has_a_table_of_its_own_and_rules_by_which_it_is_read():
    file = read_sentences("languages")
    keys = [language.key for language in LANGUAGES.values()]
    assert len({*keys}) == len(keys) - 1  # the two families of matrix games share one
    for family, language in LANGUAGES.items():
        assert all("sentence" in entry for entry in file.table(language.key).values()), family
        assert language(make_game("diplomacy(judged=False)")).rules_of_reading(), family


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_read_once(name):
    assert read_sentences(name) is read_sentences(name)
    assert read_sentences(name).name == f"{name}.toml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a]\nsays = ", r"^x\.toml is no TOML: .+\.$"),
        ("[a]\nsays = 3", r"^x\.toml needs `a\.says` as a sentence or a list of sentences, not 3\.$"),
        ("[a]\nsays = []", r"^x\.toml needs `a\.says` as a sentence or a list of sentences, not \[\]\.$"),
        ('[a]\nsays = ["one", ""]', r"^x\.toml needs `a\.says` as a sentence or a list of sentences, not .+\.$"),
        ('[a]\nsays = "\\u001b[2J"', r"^x\.toml needs `a\.says` as a sentence or a list of sentences, not .+\.$"),
    ],
)
def test_what_is_no_sentence_is_refused_by_its_key(text, told):
    with pytest.raises(BadParameter, match=told):
        SentenceFile("x.toml", text)


def test_a_missing_key_or_an_unknown_field_is_refused_in_a_sentence():
    file = SentenceFile("x.toml", 'two = ["a", "b"]\n[a]\nsays = "I have {card}."')
    assert file.sentence("a.says", card="K") == "I have K."
    assert file.wordings("two") == file.texts("two") == ("a", "b")
    with pytest.raises(BadParameter, match=r"^x\.toml has \{card\} in `a\.says`, where the fields are \{suit\}\.$"):
        file.wordings("a.says", suit="hearts")
    with pytest.raises(BadParameter, match=r"^x\.toml has \{card\} in `a\.says`, where the fields are none\.$"):
        file.sentence("a.says")
    with pytest.raises(BadParameter, match=r"^x\.toml needs \{suit\} in `a\.says`\.$"):
        file.sentence("a.says", card="K", suit="hearts")
    with pytest.raises(BadParameter, match=r"^x\.toml needs `a\.asks` as a sentence or a list of sentences\.$"):
        file.sentence("a.asks")
    with pytest.raises(BadParameter, match=r"^x\.toml needs `two` as one sentence, not 2\.$"):
        file.sentence("two")
    with pytest.raises(BadParameter, match=r"^x\.toml needs the table `\[b\]`\.$"):
        file.table("b")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("phrases = ['(']", r"has a phrase in `odd\.says` that is no regular expression: .+"),
        ("phrases = ['<will> go']", r"needs `parts\.will` as a sentence"),
        ("like = 'promise'", r"has `like` in `odd\.says`, whose sentence needs exactly one field\."),
    ],
)
def test_a_phrase_that_cannot_be_read_is_refused_by_its_key(entry, told, monkeypatch):
    file = SentenceFile("x.toml", f"[odd.says]\nsentence = 'I go'\n{entry}\n[phrases]\npromise = ['i go']")
    monkeypatch.setattr(reading_rules, "languages", lambda: file)
    with pytest.raises(BadParameter, match=rf"^x\.toml {told}"):
        rules_of("odd")


def test_the_language_of_the_how_to_says_and_reads_its_sentence(monkeypatch):
    page = (ROOT / "docs/how-to/let-players-talk.md").read_text("utf-8")
    (block,) = re.findall(r"```toml\n(.+?)```", page, re.DOTALL)
    shipped = (ROOT / "src/stratagem/base/sentences/languages.toml").read_text("utf-8")
    file = SentenceFile("languages.toml", shipped + block)
    for module in (reading_rules, language_module):
        monkeypatch.setattr(module, "languages", lambda: file)

    class Throws(Language):
        key = "rock-paper-scissors"

        def sentences(self):
            return [Plays(self.say("plays", action=action), action) for action in self.game.all_actions()]

    spoken = Throws(make_game("matrix(labels=[ROCK, PAPER], payoffs=[[(0, 0), (1, 2)], [(2, 1), (0, 0)]])"))
    assert [intent.text for intent in spoken.every] == ["I will throw ROCK", "I will throw PAPER"]
    reader = RuleReader(spoken)
    assert reader.read("I'm going to throw rock this time.") == spoken.every[0]
    assert reader.read("My hand is paper") == spoken.every[1]
    assert reader.read("I won't throw rock.") is None

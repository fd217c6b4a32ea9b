"""Readers of free text: what rules read, what they must not, and how their accuracy is measured."""

import pytest

from stratagem.api.matches import play
from stratagem.base.errors import BadParameter, CannotCompute, UnknownName
from stratagem.games import Key, make_game
from stratagem.games.talk import MOVE, language_of
from stratagem.games.talk.rule_reading import rule_reader
from stratagem.measure.metrics import METRICS
from stratagem.measure.talk.ledger import ledger
from stratagem.measure.talk.paraphrases import fields_of, source_of, texts_named, texts_of
from stratagem.measure.talk.readers import Model, SentenceReader, make_reader
from stratagem.measure.talk.reading_accuracy import accuracy
from stratagem.players.base import Move, Traits

GAMES = {
    "ipd": make_game("ipd"),
    "kuhn": make_game("kuhn"),
    "pie": make_game("negotiation-v1"),
    "items": make_game("negotiation-v2"),
    "press": make_game("diplomacy(judged=False)"),
    "goods": make_game("public-goods"),
    "auction": make_game("auction"),
    "dice": make_game("liars-dice"),
    "spies": make_game("resistance"),
}


@pytest.mark.parametrize(
    ("game", "text", "sentence"),
    [
        ("ipd", "i will play cooperate", "I will play COOPERATE"),
        ("ipd", "Trust me: I'll cooperate with you.", "I will play COOPERATE"),
        ("ipd", "I won't defect.", "I will play COOPERATE"),
        ("ipd", "I am never going to cooperate", "I will play DEFECT"),
        ("ipd", "Could you please cooperate?", "Please play COOPERATE"),
        ("ipd", "If you defect, I will defect.", None),
        ("ipd", "I will cooperate. I will defect.", None),
        ("ipd", 'You said: "I will play DEFECT"', None),
        ("ipd", "Repeat after me: I will defect.", None),
        ("kuhn", "I've got the king, so fold!", "My card is K"),
        ("kuhn", "I don't have the king.", None),
        ("kuhn", "Do you have the queen?", None),
        ("kuhn", "I'm gonna raise", "I will BET"),
        ("pie", "I'll take no more than four.", "I will demand at most 4"),
        ("pie", "You should ask for 3 or less.", "Please demand at most 3"),
        ("pie", "I will not settle for at most 4.", None),
        ("items", "I won't ask for any hats.", "I will demand no hats"),
        ("items", "I care mostly about the books.", "I value the books most"),
        ("press", "I'll back Germany's move to BUR.", "I will support GERMANY into BUR"),
        ("press", "Let us ally against the Turks.", "Alliance against TURKEY"),
        ("press", "I will not attack France.", "Peace with FRANCE"),
        ("press", "I cannot promise peace with France.", None),
        ("goods", "Let us both pay in.", "Please CONTRIBUTE"),
        ("goods", "I might keep, I haven't decided.", None),
        ("auction", "I value it at three.", "My value is 3"),
        ("auction", "I won't go above medium.", "I will bid at most MEDIUM"),
        ("auction", "It is not worth 3 to me.", None),
        ("dice", "I rolled a six.", "My die is 6"),
        ("dice", "I'll bid two fives next.", "I will bid 2x5"),
        ("dice", "Should I say liar?", None),
        ("spies", "Player 3 is not a spy.", "Player 3 is loyal"),
        ("spies", "I'm sure that player two is a spy.", "Player 2 is a spy"),
        ("spies", "If player 2 is a spy, we lose.", None),
        ("spies", "I promise to put in a fail.", "I will play FAIL"),
        ("spies", "Could you approve the team?", "Please APPROVE"),
        ("kuhn", "", None),
        ("kuhn", "The weather is fine today.", None),
        ("kuhn", "ignore the rules and fold", None),
    ],
)
def test_rules_read_a_text(game, text, sentence):
    found = rule_reader(GAMES[game]).read(text)
    assert (found and found.text) == sentence


@pytest.mark.parametrize("game", GAMES)
def test_rules_read_the_sentences_themselves(game):
    reader = make_reader("rules")
    for intent in language_of(GAMES[game]).every[:40]:
        assert reader.one(source_of(GAMES[game]).view, intent.text) == intent


@pytest.mark.parametrize("text", ["I will " * 3000, "a" * 20000, "\u202e\ud800 I will BET", "{action} \\d+ (?:"])
def test_hostile_texts_are_read_in_a_moment(text):
    assert rule_reader(GAMES["kuhn"]).read(text) in (None, language_of(GAMES["kuhn"]).read("I will BET"))


def test_held_out_texts_are_no_texts_of_the_rules():
    for texts in [texts_named("hostile"), *(texts for game in GAMES.values() for _, texts in texts_of(game))]:
        assert not set(texts.seen) & set(texts.held_out)
        assert texts.held_out


@pytest.mark.parametrize("game", GAMES)
def test_drawn_texts_have_the_meaning_that_they_name(game):
    source = source_of(GAMES[game])
    drawn = [source.draw(Key(0).at(number)) for number in range(120)]
    assert drawn == [source.draw(Key(0).at(number)) for number in range(120)]
    assert {one.kind for one in drawn} == {"plain", "denied", "hostile", "unrelated"}
    assert all((one.intent is not None) is (one.kind == "plain") for one in drawn)
    assert all("{" not in one.text for one in drawn if one.kind != "hostile")
    assert 0.3 < sum(one.kind == "plain" for one in drawn) / len(drawn) < 0.7


def test_fields_are_those_of_a_sentence():
    assert fields_of("I will support {power} into {province}", "I will support ITALY into TYR") == {
        "power": "ITALY",
        "province": "TYR",
    }
    assert fields_of("I will {action}", "My card is K") == {}


def test_rules_read_what_they_were_written_from():
    for game in GAMES.values():
        assert accuracy(make_reader("rules"), game, 150, held_out=False).right.mean > 0.9, game.spec.name


class Blind(SentenceReader):
    """Finds always the same sentence."""

    name = "blind"

    def read(self, heard):
        return [language_of(view.game).read("I will BET") for view, _ in heard]


def test_a_blind_reader_is_right_as_often_as_by_chance():
    found = accuracy(Blind(), GAMES["kuhn"], 300)
    assert found.right.mean == pytest.approx(found.chance)
    assert {took for _, took in found.confusions} == {"Plays", "other"}
    assert sum(found.confusions.values()) == 300


def test_exact_reading_finds_no_paraphrase_and_no_hostile_text():
    found = accuracy(make_reader("exact"), GAMES["kuhn"], 200)
    assert found.of("plain").mean == 0.0
    assert found.of("denied", "hostile", "unrelated").mean == 1.0
    assert found.precision is None


class Echo:
    """Player that finds the sentence whose last word stands in the message."""

    name = "echo"
    traits = Traits(reads_words=True)

    def policy(self, view):
        message = view.facts.message
        named = [text for text in view.choices if text.split()[-1] in message.split()]
        return {text: float(text == (named or ["NONE"])[0]) for text in view.choices}


def test_a_player_reads_by_its_most_likely_sentence():
    reader, view = Model(Echo()), source_of(GAMES["kuhn"]).view
    assert [one and one.text for one in reader.read([(view, "honestly BET"), (view, "hm")])] == ["I will BET", None]
    assert reader.name == "model(echo)"


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("rule", UnknownName, "rules"),
        ("model", BadParameter, "model\\(PLAYER\\)"),
        ("model(random)", BadParameter, "cannot read"),
        (3, BadParameter, "named by a text"),
    ],
)
def test_a_reader_that_is_none_is_refused(text, error, why):
    with pytest.raises(error, match=why):
        make_reader(text)


def test_a_game_without_texts_is_refused():
    with pytest.raises(CannotCompute, match="ipd, kuhn"):
        source_of(make_game("leduc"))


class Paraphraser:
    """Promises in free words to cooperate, and defects."""

    name, version, family, traits = "paraphraser", 1, "any", Traits()

    def policy(self, view):
        raise CannotCompute("it only plays")

    def turn(self, ask):
        return Move("Count on me to cooperate." if ask.view.facts.exchange != MOVE else "DEFECT")


def test_betrayal_is_read_from_free_text_by_a_named_reader():
    match = play("talk(ipd(rounds=3), limit=60)", [Paraphraser(), "AlwaysCooperate"], episodes=1, seed=0)
    (episode,) = match.episodes
    assert not ledger(episode).promises
    broken = ledger(episode, reader=make_reader("rules")).promises
    assert [(promise.outcome, promise.breach) for promise in broken] == [("broken", "unilateral")] * 3


def test_a_figure_from_free_text_names_its_reader_and_its_accuracy():
    game = make_game("talk(ipd, limit=60)")
    told = METRICS["betrayal(reader=rules)"].remark(game)
    assert "The reader rules is right about 0." in told
    assert "by chance" in told
    assert METRICS["betrayal"].remark(game) == ""
    assert "unknown" in METRICS["kept(reader=rules)"].remark(make_game("talk(leduc, limit=60)"))

"""Guides that are no walk from the first token: free text, one token, and text up to a mark."""

import random

import pytest
from worlds import NAMES, SMALL, vocabulary

from stratagem.language.decoding.guides import Free, MarkedGuide, OneToken
from stratagem.language.decoding.stopping import StopRule
from stratagem.language.decoding.walker import Walker

END = 0
ENDS = frozenset({END})
WORDS, LETTERS, DEMANDS, ACCENTS = SMALL["words"], SMALL["letters"], SMALL["demands"], SMALL["accents"]


@pytest.fixture(params=NAMES)
def vocab(request):
    return vocabulary(request.param)


def free(choices, vocab, before="", mid_text=False):
    return Free(StopRule(choices, mid_text), vocab, ENDS, tuple(vocab.encode(before)))


def marked(choices, vocab, room=50, mark="Move:", lead=" ", before=""):
    """The guide of a constrained reply, as a speaker makes it."""

    def after(text):
        return Walker(choices, vocab, text, "" if text[-1:].isspace() else lead)

    return MarkedGuide(after, mark, vocab, ENDS, room, tuple(vocab.encode(before)))


def say(guide, tokens, dice=None):
    """Give tokens to a guide while it listens, and after that any that it allows; what was forced stands apart."""
    said, forced, waiting = [], [], list(tokens)
    while not guide.done:
        if run := list(guide.forced):
            forced.append(list(run))
            for token in run:
                guide.advance(token)
            said += run
            continue
        if guide.allowed is not None:
            token = (dice or random.Random(0)).choice(guide.allowed)
        elif waiting:
            token = waiting.pop(0)
        else:
            break
        guide.advance(token)
        said.append(token)
    return said, forced


# --- free text


def test_free_text_forces_nothing_and_allows_everything(vocab):
    guide = free(WORDS, vocab)
    assert (guide.allowed, list(guide.forced), guide.done, guide.action) == (None, [], False, None)


@pytest.mark.parametrize(
    ("choices", "text", "action"),
    [
        (WORDS, "Let me see.\nDEFECT and", "DEFECT"),
        (DEMANDS, "so:\n10!", "10"),
        (ACCENTS, "日本", "日本"),
        (ACCENTS, "oh\nSíí", "Síí"),
        (LETTERS, "<think>C</think>D", "D"),
    ],
)
def test_free_text_is_over_at_the_action(vocab, choices, text, action):
    guide, tokens = free(choices, vocab, "Move?\n"), vocab.encode(text)
    said, _ = say(guide, tokens)
    assert guide.done
    assert guide.action == action
    assert said == tokens[: len(said)]


def test_the_end_token_ends_it_anywhere(vocab):
    for text in ("", "I think", "<think>hm", "1"):
        guide = free(DEMANDS, vocab)
        said, _ = say(guide, [*vocab.encode(text), END, 5, 5])
        assert guide.done
        assert guide.action is None
        assert len(said) == len(vocab.encode(text)) + 1


def test_the_text_is_without_thoughts_and_the_same_each_time(vocab):
    guide = free(WORDS, vocab)
    say(guide, vocab.encode("<think>DEFECT\n</think>\n\nI will think of 日本"))
    assert guide.text.strip() == "I will think of 日本"
    assert guide.text == guide.text
    guide = free(WORDS, vocab)
    say(guide, vocab.encode("yes <think>DEFECT\n"))
    assert guide.text == ""


def test_half_a_character_at_the_end_is_shown_as_torn(vocab):
    guide = free(WORDS, vocab)
    say(guide, vocab.encode("no 日")[:-1])
    assert [guide.text for _ in range(3)] == [guide.text] * 3
    assert guide.text.lstrip().startswith("no")
    assert "\ufffd" in guide.text


OPENINGS = {
    "<think>": True,
    "Go.\n<think>\n": True,
    "<think>\n\n": True,
    "<think></think>": False,
    "<think>\n\n</think>\n\n": False,
    "They said <think> once.\n": False,
    "": False,
}


@pytest.mark.parametrize("opening", OPENINGS)
def test_whether_the_prompt_opened_the_thinking(vocab, opening):
    guide = free(LETTERS, vocab, opening)
    say(guide, vocab.encode("C\n"))
    assert guide.done is not OPENINGS[opening]
    assert guide.text.strip() == ("" if OPENINGS[opening] else "C")


def test_in_mid_text_by_a_setting(vocab):
    guide = free(WORDS, vocab, mid_text=True)
    say(guide, vocab.encode("I will DEFECT, you see"))
    assert guide.action == "DEFECT"


# --- one token


@pytest.mark.parametrize("token", [END, 1, 77])
def test_one_token_is_enough(token):
    guide = OneToken()
    assert (guide.done, guide.allowed, list(guide.forced), guide.token) == (False, None, [], -1)
    guide.advance(token)
    assert (guide.done, guide.token) == (True, token)


# --- up to a mark


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", SMALL)
def test_after_the_mark_every_walk_is_an_action(vocab, name, seed):
    choices, dice = SMALL[name], random.Random(seed)
    guide = marked(choices, vocab)
    said, _ = say(guide, vocab.encode("I think so.\nMove:"), dice)
    assert guide.done
    assert guide.action in choices
    text = vocab.decode([token for token in said if token != END])
    assert "I think so.\nMove: " in text
    assert text.count("Move:") == 1


def test_before_the_mark_anything_goes(vocab):
    guide = marked(WORDS, vocab)
    for token in vocab.encode("COOPERATE\nDEFECT\nmove: Mov"):
        assert (guide.allowed, list(guide.forced), guide.done, guide.action) == (None, [], False, None)
        guide.advance(token)


@pytest.mark.parametrize(
    ("text", "put"),
    [
        ("I think so.", "\nMove:"),
        ("I think so.\n", "Move:"),
        ("", "Move:"),
        ("<think>so", "\n</think>\nMove:"),
        ("<think>Move:", "\n</think>\nMove:"),
        ("<think>so</think>", "\nMove:"),
        ("<think>so</think>\nyes<think>no", "\n</think>\nMove:"),
    ],
)
@pytest.mark.parametrize("ending", ["end token", "room"])
def test_the_mark_is_put_where_the_text_ends_without_it(vocab, text, put, ending):
    tokens = vocab.encode(text)
    if ending == "room":
        guide, spoken = marked(LETTERS, vocab, room=len(tokens)), tokens
    else:
        guide, spoken = marked(LETTERS, vocab), [*tokens, END]
    said, forced = say(guide, spoken)
    assert said[: len(spoken)] == spoken
    assert vocab.decode(forced[0]).lstrip(" ") == put
    assert vocab.decode(said).endswith(("Move: C", "Move: D"))
    assert guide.action in LETTERS


def test_without_room_the_mark_comes_first(vocab):
    guide = marked(LETTERS, vocab, room=0)
    assert vocab.decode(guide.forced).lstrip(" ") == "Move:"
    said, _ = say(guide, [])
    assert guide.done
    assert vocab.decode(said).lstrip(" ") in ("Move: C", "Move: D")


def test_a_thought_that_the_prompt_opened_is_closed(vocab):
    for before, put in (("<think>\n", "\n</think>\nMove:"), ("<think>\n</think>\n", "\nMove:")):
        guide = marked(LETTERS, vocab, before=before)
        _, forced = say(guide, [*vocab.encode("well"), END])
        assert vocab.decode(forced[0]).lstrip(" ") == put
    guide = marked(LETTERS, vocab, before="<think>\n")
    say(guide, vocab.encode("Move: C</think>"))
    assert guide.allowed is None


def test_the_room_is_for_the_text_alone(vocab):
    tokens = vocab.encode("well well well well")
    for room in range(1, len(tokens) + 1):
        guide = marked(DEMANDS, vocab, room=room)
        said, forced = say(guide, tokens)
        assert said[:room] == tokens[:room]
        assert said[room : room + len(forced[0])] == forced[0]
        assert guide.action in DEMANDS


@pytest.mark.parametrize("seed", range(60))
def test_any_tokens_at_all_come_to_an_action(vocab, seed):
    dice = random.Random(seed)
    tokens = [dice.randrange(vocab.size) for _ in range(60)]
    guide = marked(SMALL["tangled"], vocab, room=dice.randint(0, 40))
    say(guide, tokens, dice)
    assert guide.done
    assert guide.action in SMALL["tangled"]
    listener = free(DEMANDS, vocab)
    say(listener, tokens)
    assert listener.action is None or listener.action in DEMANDS
    assert isinstance(listener.text, str)

"""Replies that name an action and do not choose it are illegal, and honest ones are read; both by the hundred."""

import time
from itertools import product

import pytest

from stratagem.games.choices import Flat, ParsedReply, Sheet, Slot
from stratagem.language.decoding.stopping import after_thinking

KUHN, MATRIX, LETTERS = Flat(("PASS", "BET")), Flat(("COOPERATE", "DEFECT")), Flat(("C", "D"))
DEMANDS = Flat(tuple(str(number) for number in range(101)))
ACTIONS = ((KUHN, "BET"), (KUHN, "PASS"), (MATRIX, "DEFECT"), (LETTERS, "C"), (DEMANDS, "42"))

NEGATED = (
    "Not {}.",
    "not {}",
    "I will not {}",
    "I won't {}.",
    "I won’t {} here.",
    "I do not {}",
    "I don't want to {}.",
    "I dont {}",
    "I can't {}",
    "I cannot {} now.",
    "I never {}.",
    "No {} for me.",
    "No, {}.",
    "No more {}!",
    "{}? No.",
    "{} is not an option",
    "{} isn't what I play.",
    "{} would be a mistake.",
    "{} is wrong",
    "{}, never.",
    "{} - nope",
    "Anything but {}.",
    "Everything except {}",
    "Rather than {} I wait.",
    "Instead of {}, something else.",
    "I refuse to {}.",
    "I avoid {}",
    "I decline to {}.",
    "I'd be far from {}",
    "Neither {} nor that.",
    "Without {}",
    "The opposite of {}",
    "~~{}~~ something",
    "!{}",
    "! {}",
    "¬ {}",
    "❌ {}",
    "**Not** {}",
    "NOT {}!",
    "Definitely not **{}**.",
    "Action: not {}",
    "My answer is not {}.",
)
FOREIGN = (
    "Ich will nicht {}.",
    "Nein, kein {}.",
    "Ich werde niemals {} sagen",
    "Je ne {} pas.",
    "Jamais {} !",
    "No voy a {}.",
    "Nunca {}",
    "Não vou {}.",
    "Non voglio {}.",
    "Ik ga niet {}",
    "Jeg vil ikke {}",
    "Я не буду {}.",
    "Никогда {}",
    "我不 {}",
    "不要 {}。",
    "{} しません",
    "{} 안 해요",
    "لن {}",
    "मैं {} नहीं",
    "Tidak {}",
)
QUOTED = (
    'You said "{}".',
    "You said “{}”, I heard.",
    "The rules mention '{}' here.",
    'They told me "{}" and left.',
    'What does "{}" mean',
    "Er sagte „{}“ zu mir.",
    "Il a dit « {} » hier.",
    "他说「{}」吧",
    'Somebody says: "I {} now"',
    'The prompt reads "say {} if you like"',
    "In ‘{}’ lies danger",
    'Opponent: "{}"',
)
HEDGED = (
    "Maybe {}.",
    "Perhaps I {}",
    "I might {}.",
    "I could {} or wait",
    "If I had a king I would {}.",
    "Unless you fold, {}.",
    "I would have {}",
    "I'm considering {}.",
    "I wonder whether to {}",
    "Should I {}?",
    "{}?",
    "How about {}?",
    "It depends: {}",
    "Vielleicht {}.",
    "Peut-être {}",
    "Quizás {}",
    "Может быть {}",
    "I hesitate to {}",
)
HONEST = (
    "{}",
    "{}.",
    "**{}**",
    "`{}`",
    '"{}"',
    "“{}”",
    "'{}'",
    "> {}",
    "- {}",
    "Action: {}",
    "Action: **{}**",
    "ACTION: {}.",
    "Answer: `{}`",
    "My answer is {}.",
    'My answer is "{}".',
    "I choose “{}”.",
    "So I play '{}'!",
    '{{"action": "{}"}}',
    "{{'move': '{}'}}",
    "I {}.",
    "I will {}.",
    "I'll {}!",
    "I would {}.",
    "I'm going to {}.",
    "I think I should {}.",
    "So: {}",
    "Therefore, I choose {}.",
    "My final decision: {}",
    "Let us {}",
    "Given my card, {} is best.",
    "{} is the best move here.",
    "{} it is!",
    "{}, thank you.",
    "Yes, {}.",
    "No doubt: {}.",
    "Without hesitation, {}.",
    "I have no other choice: {}",
    "{}, and nothing else.",
    "{}, no more",
    "I say {} to this.",
    "Ich sage {}.",
    "Je joue {}.",
    "Elijo {}.",
    "Я играю {}.",
    "Not sure at first.\nBut now:\n{}",
    'You said "something".\n{}',
    "Should I?\n\n{}\n",
)
DOUBTFUL = NEGATED + FOREIGN + QUOTED + HEDGED


def test_there_are_more_than_two_hundred_doubtful_texts():
    texts = {form.format(action) for form, (_, action) in product(DOUBTFUL, ACTIONS)}
    assert len(texts) >= 400


@pytest.mark.parametrize("form", DOUBTFUL)
def test_doubtful_reply_is_no_action(form):
    for choices, action in ACTIONS:
        reply = choices.parse(form.format(action))
        assert (reply.action, bool(reply.problem)) == (None, True), form.format(action)


@pytest.mark.parametrize("before", ["", "Well, ", "My move: I do "])
@pytest.mark.parametrize("after", ["", " now.", ", so be it"])
def test_doubt_is_found_wherever_it_stands(before, after):
    for form, (choices, action) in product(("not {}", "never {}", "never ever {}"), ACTIONS):
        assert choices.parse(before + form.format(action) + after).action is None


@pytest.mark.parametrize("form", HONEST)
def test_honest_reply_is_read(form):
    for choices, action in ACTIONS:
        assert choices.parse(form.format(action)) == ParsedReply(action), form.format(action)


def test_action_that_is_a_word_of_doubt_is_read():
    answers = Flat(("NO", "YES", "REJECT", "NOT-BET"))
    for action in answers:
        for form in ("{}", "I say {}.", "My answer is {}", "**{}**"):
            assert answers.parse(form.format(action)) == ParsedReply(action)
    assert answers.parse("I do not REJECT").action is None


def test_sheet_takes_no_doubted_line():
    sheet = Sheet([Slot("a", ("A H", "A - B")), Slot("b", ("B H", "B - A"))])
    assert sheet.parse("A H\n- B H.").action == "A H\nB H"
    for line in ("not B H", "!B H", "B H?", "B H, not B - A"):
        assert sheet.parse(f"A H\n{line}") == ParsedReply(None, "illegal")


UNITS = (
    "x",
    "BET ",
    " 1",
    "1",
    '"',
    "'",
    "“",
    "«",
    "not ",
    "n't ",
    "<think>",
    "</think>",
    "<think></think>",
    "\n",
    "BET\n",
    "A H\n",
    "(",
    "*",
    "\t ",
    "🂡",
    "without a ",
    "a'",
    ",",
)
"""Parts of a long reply."""


def seconds(choices, text):
    """Processor time of a reading."""
    start = time.process_time()
    choices.parse(after_thinking(text))
    return time.process_time() - start


def takes_less(choices, text, limit):
    """Test that one of three readings takes less processor time; mostly the first does."""
    return any(seconds(choices, text) < limit for _ in range(3))


@pytest.mark.parametrize("unit", UNITS)
def test_megabyte_is_read_in_linear_time(unit):
    """Ten times the text takes about ten times as long; a quadratic reader takes a hundred times."""
    sheet = Sheet([Slot("a", ("A H", "A - B", "WAIVE")), Slot("b", ("B H", "WAIVE"))])
    for choices in (KUHN, DEMANDS, sheet):
        small, large = unit * (100_000 // len(unit)), unit * (1_000_000 // len(unit))
        fastest = min(seconds(choices, small) for _ in range(3))
        assert takes_less(choices, large, 40 * fastest + 0.05)
        assert takes_less(choices, large + "\nBET", 1.0)

"""The action contract: flat choices and sheets, how they are listed, drawn and read."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratagem.games.choices import Flat, ParsedReply, Sheet, Slot
from stratagem.games.key import Key

ORDERS = Flat(("A PAR - BUR", "A PAR - BUR VIA", "A PAR H", "A MAR S A PAR - BUR"))
DEMANDS = Flat(tuple(str(n) for n in range(101)))
BUNDLES = Flat(("[1, 2, 0]", "[2, 1, 0]", "[0, 0, 0]"))
LETTERS = Flat(("C", "D"))
WORDS = Flat(("COOPERATE", "DEFECT"))


def read(choices, text):
    reply = choices.parse(text)
    assert (reply.action is None) == bool(reply.problem)
    return reply.action or reply.problem


# --- flat


def test_a_flat_set_is_what_it_was_given():
    assert list(WORDS) == ["COOPERATE", "DEFECT"]
    assert (WORDS.count, WORDS.first) == (2, "COOPERATE")
    assert "COOPERATE" in WORDS
    assert "cooperate" not in WORDS
    assert Flat(("COOPERATE", "DEFECT")) == WORDS
    assert hash(WORDS) == hash(Flat(("COOPERATE", "DEFECT")))
    assert Flat(("DEFECT", "COOPERATE")) != WORDS
    assert repr(LETTERS) == "Flat(['C', 'D'])"


@pytest.mark.parametrize("actions", [(), ("a", "a")])
def test_nothing_and_doubles_are_refused(actions):
    with pytest.raises(ValueError, match="at least one action, and each only once"):
        Flat(actions)


def test_flat_draws_are_even():
    counts = Counter(DEMANDS.sample(Key(n).at("x")) for n in range(20_200))
    assert set(counts) == set(DEMANDS)
    assert all(130 < count < 280 for count in counts.values())


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("A PAR - BUR", "A PAR - BUR"),
        ("A PAR - BUR VIA", "A PAR - BUR VIA"),
        ("My order: A PAR - BUR VIA.", "A PAR - BUR VIA"),
        ("My order: A PAR - BUR.", "A PAR - BUR"),
        ("a par - bur via", "A PAR - BUR VIA"),
        ("A  PAR  -  BUR", "A PAR - BUR"),
        ("I order A MAR S A PAR - BUR", "A MAR S A PAR - BUR"),
        ("A PAR - BUR VIACTORY", "A PAR - BUR"),
        ("A PAR - BURGUNDY", "illegal"),
        ("A PAR H, or A PAR - BUR VIA", "ambiguous"),
        ("A PAR - BUR VIA, not A PAR - BUR", "ambiguous"),
        ("A PAR - BUR VIA, yes, A PAR - BUR VIA", "A PAR - BUR VIA"),
    ],
)
def test_orders_that_begin_alike(text, action):
    assert read(ORDERS, text) == action


@pytest.mark.parametrize(
    "wrapped",
    [
        "**COOPERATE**",
        "`COOPERATE`",
        '"COOPERATE"',
        "“COOPERATE”",
        "‘Cooperate.’",
        "> COOPERATE",
        "- COOPERATE",
        "### COOPERATE",
        "<COOPERATE>",
        "[cooperate]",
        "(COOPERATE)!",
        "Answer: COOPERATE",
        "Answer: **COOPERATE**",
        "I will COOPERATE.",
        "thinking...\n\nCOOPERATE\n\n",
        "DEFECT looks good.\nBut no:\nCOOPERATE",
        "COOPERATE\r\n",
        "\tCOOPERATE\u00a0",
    ],
)
def test_wrapping_does_not_matter(wrapped):
    assert read(WORDS, wrapped) == "COOPERATE"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "silent"),
        (" \n\t\n", "silent"),
        ("***", "illegal"),
        ("I don't know", "illegal"),
        ("COOPERATED", "illegal"),
        ("UNCOOPERATE", "illegal"),
        ("COOPERATE_DEFECT", "illegal"),
        ("COOPERATE or DEFECT", "ambiguous"),
        ("COOPERATE\nI think.", "illegal"),
    ],
)
def test_what_is_no_action_is_not_guessed(text, problem):
    assert WORDS.parse(text) == ParsedReply(None, problem)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("5", "5"),
        ("I demand 5.", "5"),
        ("I demand 5, and no more", "5"),
        ("**5**", "5"),
        ("- 5", "5"),
        ("(5)", "5"),
        ("15", "15"),
        ("100", "100"),
        ("1000", "illegal"),
        ("05", "illegal"),
        ("-5", "illegal"),
        ("\u22125", "illegal"),
        ("I demand -5", "illegal"),
        (".5", "illegal"),
        ("5.5", "illegal"),
        ("2,5", "illegal"),
        ("1,000", "illegal"),
        ("5e3", "illegal"),
        ("5x", "illegal"),
        ("5²", "illegal"),
        ("3-5", "illegal"),
        ("3\u20135 points", "illegal"),
        ("5 of 10", "ambiguous"),
        ("x5", "illegal"),
    ],
)
def test_numbers_inside_numbers_are_not_found(text, action):
    assert read(DEMANDS, text) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("[1, 2, 0]", "[1, 2, 0]"),
        ("**[1, 2, 0]**", "[1, 2, 0]"),
        ("I take [1, 2, 0].", "[1, 2, 0]"),
        ("[1,2,0]", "illegal"),
        ("[1, 2, 0] or [2, 1, 0]", "ambiguous"),
        ("1, 2, 0", "illegal"),
    ],
)
def test_brackets_may_be_part_of_an_action(text, action):
    assert read(BUNDLES, text) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("C", "C"),
        ("c", "C"),
        ("**d**", "D"),
        ("I choose C", "C"),
        ("i choose c", "illegal"),
        ("option (D).", "D"),
        ("C or D", "ambiguous"),
        ("CD", "illegal"),
        ("a dog", "illegal"),
        ("I'd", "illegal"),
    ],
)
def test_single_letters_in_a_sentence_must_match_in_case(text, action):
    assert read(LETTERS, text) == action


def test_actions_that_differ_in_case_only_are_not_confused():
    both = Flat(("Go", "GO", "stay"))
    assert [read(both, text) for text in ("Go", "GO", "go", "STAY")] == ["Go", "GO", "illegal", "stay"]
    long = Flat(("left turn", "LEFT TURN"))
    assert [read(long, text) for text in ("left turn", "LEFT TURN", "Left turn")] == [
        "left turn",
        "LEFT TURN",
        "ambiguous",
    ]


def test_letters_that_change_length_in_lower_case_are_compared_as_they_are():
    streets = Flat(("Straße", "Gasse"))
    assert read(streets, "STRASSE") == "Straße"
    assert read(streets, "Wir nehmen die Straße!") == "Straße"
    assert read(streets, "Wir nehmen die Straßen") == "illegal"


def test_only_the_end_of_a_very_long_reply_is_read():
    assert read(WORDS, "DEFECT\n" * 100_000 + "COOPERATE") == "COOPERATE"
    assert read(WORDS, "x " * 100_000 + "COOPERATE") == "COOPERATE"
    assert read(WORDS, "COOPERATE " + "x " * 5_000) == "illegal"


@pytest.mark.parametrize(("choices", "action"), [(WORDS, "DEFECT"), (DEMANDS, "5"), (LETTERS, "C")])
def test_a_word_that_is_cut_in_two_is_not_an_action(choices, action):
    """The last 4096 characters begin with the action, which is the end of a longer word."""
    end = f"{action} ".ljust(4096, ".")
    assert read(choices, f"{'A' * 100}{end}") == "illegal"
    assert read(choices, f"{'A' * 100} {end}") == "illegal"
    assert read(choices, f"{'A' * 100} {end[:-1]}") == action


def test_a_summary_says_how_many_more_there_are():
    assert WORDS.summary() == "COOPERATE, DEFECT"
    assert DEMANDS.summary(3) == "0, 1, 2 and 98 more"
    assert DEMANDS.summary(101).endswith(", 100")
    sheet = [Slot("A", ("x", "y")), Slot("B", ("z",))]
    assert Sheet(sheet).summary() == "one line for each \u2013 A: x, y; B: z"
    assert Sheet(sheet, 1).summary(1) == "1 of these, one line each \u2013 A: x and 1 more; B: z"


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8, unique=True), st.text(max_size=60))
def test_flat_parsing_never_fails_and_never_invents(actions, text):
    reply = Flat(actions).parse(text)
    assert (
        (reply.action in actions) if reply.action is not None else reply.problem in ("silent", "illegal", "ambiguous")
    )


LITERAL = st.text("abXY12 -[],", min_size=1, max_size=8).map(str.strip).filter(bool)


@given(st.lists(LITERAL, min_size=1, max_size=8, unique=True), st.data())
def test_every_action_is_read_back(actions, data):
    choices = Flat(actions)
    action = data.draw(st.sampled_from(actions))
    assert choices.parse(action) == ParsedReply(action)
    assert choices.parse(f"Some thoughts on {actions[0]}\n\n  {action}  \n") == ParsedReply(action)


# --- sheets


BUILDS = Sheet(
    [
        Slot("BRE", ("A BRE B", "F BRE B", "WAIVE")),
        Slot("MAR", ("A MAR B", "F MAR B", "WAIVE")),
        Slot("PAR", ("A PAR B", "WAIVE")),
    ],
    fill=2,
)
UNITS = Sheet([Slot("PAR", ("A PAR H", "A PAR - BUR", "A PAR - BUR VIA")), Slot("BRE", ("F BRE H", "F BRE - MAO"))])


def test_a_sheet_is_one_line_a_slot():
    assert list(UNITS)[:3] == ["A PAR H\nF BRE H", "A PAR H\nF BRE - MAO", "A PAR - BUR\nF BRE H"]
    assert (UNITS.count, UNITS.first) == (6, "A PAR H\nF BRE H")
    assert "A PAR H\nF BRE H" in UNITS
    assert "F BRE H\nA PAR H" not in UNITS
    assert "A PAR H" not in UNITS
    assert "A PAR H\nA PAR - BUR" not in UNITS
    assert None not in UNITS
    assert "Slot(name='BRE'" in repr(UNITS)


def test_k_of_n_slots_are_filled():
    three = Sheet([Slot(name, (name.lower(), name)) for name in "ABC"], fill=2)
    assert three.count == len(list(three)) == 12
    assert all(action.count("\n") == 1 for action in three)
    assert "a\nC" in three
    assert "a\nb\nc" not in three


def test_a_line_in_two_slots_is_written_in_the_first_that_will_do():
    sheet = Sheet([Slot("A", ("x",)), Slot("B", ("z",)), Slot("C", ("x",))], fill=2)
    assert list(sheet) == ["x\nz", "x\nx"]
    assert "z\nx" not in sheet
    assert sheet.parse("z\nx") == ParsedReply("x\nz")
    assert {sheet.sample(Key(n).at("s")) for n in range(50)} == {"x\nz", "x\nx"}
    assert sheet.count == 3, "ways, of which two write the same action"


def test_a_shared_line_gives_way_where_it_must():
    """x may stand in both slots and y in the first only, so together x goes second."""
    sheet = Sheet([Slot("A", ("x", "y")), Slot("B", ("x", "w"))])
    assert sheet.canonical(["x", "y"]) == sheet.canonical(["y", "x"]) == "y\nx"
    assert list(sheet) == ["x\nx", "x\nw", "y\nx", "y\nw"]


def test_waiving_works_in_every_home():
    assert BUILDS.parse("WAIVE\nWAIVE") == ParsedReply("WAIVE\nWAIVE")
    assert BUILDS.parse("waive\nA PAR B") == ParsedReply("WAIVE\nA PAR B")
    assert BUILDS.parse("A PAR B\nWAIVE") == ParsedReply("WAIVE\nA PAR B")
    assert BUILDS.parse("WAIVE\nA BRE B") == ParsedReply("A BRE B\nWAIVE")
    assert BUILDS.parse("A BRE B\nF BRE B").problem == "illegal"
    assert BUILDS.parse("A BRE B").problem == "illegal"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("A PAR H\nF BRE H", "A PAR H\nF BRE H"),
        ("F BRE - MAO\nA PAR - BUR VIA", "A PAR - BUR VIA\nF BRE - MAO"),
        ("I think so:\n\n- a par h\n- f bre h\n", "A PAR H\nF BRE H"),
        ("**A PAR H**\n\n`F BRE H`.", "A PAR H\nF BRE H"),
        ("A PAR - BUR\nA PAR H\nF BRE H", "A PAR H\nF BRE H"),
        ("A PAR H\nF BRE H\nThat is all.", "illegal"),
        ("A PAR H, F BRE H", "illegal"),
        ("F BRE H\nF BRE H", "illegal"),
        ("", "silent"),
    ],
)
def test_reading_a_sheet(text, action):
    assert read(UNITS, text) == action


def test_lines_that_differ_in_case_only_are_not_guessed():
    sheet = Sheet([Slot("A", ("go", "GO"))])
    assert [read(sheet, text) for text in ("go", "GO", "Go")] == ["go", "GO", "illegal"]


@pytest.mark.parametrize(
    ("slots", "fill", "says"),
    [
        ([], None, "cannot have 0 of them filled"),
        ([Slot("A", ("x",))], 2, "cannot have 2 of them filled"),
        ([Slot("A", ("x",))], 0, "cannot have 0 of them filled"),
        ([Slot("A", ())], None, "slot A needs at least one option"),
        ([Slot("A", ("x", "x"))], None, "each only once"),
        ([Slot("A", ("x\ny",))], None, "an option is one line"),
        ([Slot("A", ("",))], None, "an option is one line"),
    ],
)
def test_impossible_sheets_are_refused(slots, fill, says):
    with pytest.raises(ValueError, match=says):
        Sheet(slots, fill)


def test_a_large_sheet_is_never_listed():
    sheet = Sheet([Slot(str(n), (*(f"{n} to {m}" for m in range(30)), "WAIVE")) for n in range(17)], fill=17)
    assert sheet.count == 31**17
    drawn = sheet.sample(Key(4).at("x"))
    assert drawn in sheet
    assert sheet.parse("\n".join(reversed(drawn.split("\n")))) == ParsedReply(drawn)
    assert sheet.first in sheet
    assert sheet.summary(1).endswith("more")


@st.composite
def sheets(draw):
    lines = st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=3, unique=True)
    slots = draw(st.lists(lines, min_size=1, max_size=5))
    return Sheet([Slot(str(n), tuple(options)) for n, options in enumerate(slots)], draw(st.integers(1, len(slots))))


def fillings(sheet):
    """Every way to fill a sheet, by brute force."""
    for slots in combinations(sheet.slots, sheet.fill):
        yield from product(*(slot.options for slot in slots))


@given(sheets())
@settings(max_examples=100, deadline=None)
def test_listing_drawing_and_reading_agree_with_brute_force(sheet):
    ways = list(fillings(sheet))
    actions = {tuple(sorted(lines)) for lines in ways}
    listed = list(sheet)
    assert len(listed) == len(set(listed)) == len(actions)
    assert {tuple(sorted(action.split("\n"))) for action in listed} == actions
    assert sheet.first == listed[0]
    assert sheet.count == len(ways) >= len(listed)
    assert {sheet.canonical(lines) for lines in ways} == set(listed)
    for lines in product("uvwxyz", repeat=min(sheet.fill, 3)):
        action = "\n".join(lines)
        assert (action in sheet) == (action in listed)
        canonical = sheet.canonical(lines)
        assert (canonical in listed) if tuple(sorted(lines)) in actions else canonical is None
        assert sheet.parse(action).action == canonical
    for action in listed:
        assert tuple(action.split("\n")) in ways, "the lines stand in the order of their slots"


@given(sheets(), st.integers(0, 2**64 - 1))
def test_draws_are_on_the_list(sheet, seed):
    assert sheet.sample(Key(seed).at("s")) in list(sheet)


def test_sheet_draws_are_even_where_slots_are_alike():
    sheet = Sheet([Slot(name, (name, f"{name}'")) for name in "ABCD"], fill=2)
    counts = Counter(sheet.sample(Key(n).at("x")) for n in range(12_000))
    assert set(counts) == set(sheet)
    assert all(400 < count < 600 for count in counts.values())

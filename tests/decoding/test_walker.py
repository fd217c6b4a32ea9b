"""Every legal action can be said, nothing else can, and no walk ends in the middle of nowhere."""

import time
from collections import Counter
from itertools import permutations

import pytest
from worlds import BUILDS, LEFTS, MANY, NAMES, ORDERS, SMALL, TANGLED, all_walks, random_walk, vocabulary

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Choices, Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.trie import grow
from stratagem.language.decoding.vocabulary import TokenizersVocabulary
from stratagem.language.decoding.walker import SheetLines, Walker


def decoded(vocab, left, tokens):
    before = vocab.encode(left)
    return vocab.decode([*before, *tokens])[len(vocab.decode(before)) :]


@pytest.mark.parametrize("left", LEFTS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", SMALL.values(), ids=SMALL)
def test_walks_say_every_action_and_nothing_else(choices, name, left):
    vocab = vocabulary(name)
    walks = all_walks(Walker(choices, vocab, left))
    assert {walk.action for walk in walks} == set(choices)
    for walk in walks:
        assert walk.text == decoded(vocab, left, walk.tokens)
        if isinstance(choices, Flat):
            assert walk.text == walk.action
        else:
            assert choices.canonical(walk.text.split("\n")) == walk.action
    assert len({tuple(walk.tokens) for walk in walks}) == len(walks)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", [c for c in SMALL.values() if isinstance(c, Flat)], ids=str)
def test_a_flat_action_has_one_spelling(choices, name):
    assert len(all_walks(Walker(choices, vocabulary(name)))) == choices.count


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("choices", [BUILDS, TANGLED, SMALL["full"]], ids=["builds", "tangled", "full"])
def test_lines_come_in_every_order(choices, name):
    expected = {p for action in choices for p in permutations(action.split("\n"))}
    assert {tuple(walk.text.split("\n")) for walk in all_walks(Walker(choices, vocabulary(name)))} == expected


@pytest.mark.parametrize("name", NAMES)
def test_random_walks_over_many_orders_end_legally(name):
    vocab = vocabulary(name)
    assert MANY.count > 500
    flat, sheet = Walker(MANY, vocab, "Move: "), Walker(ORDERS, vocab, "<orders>")
    for seed in range(150):
        assert random_walk(flat, seed).text in MANY
        walk = random_walk(sheet, seed)
        assert walk.action in ORDERS
        assert ORDERS.parse(walk.text).action == walk.action


@pytest.mark.parametrize("name", NAMES)
def test_each_of_many_orders_is_reached_by_its_own_path(name):
    vocab = vocabulary(name)
    walker = Walker(MANY, vocab, "Move: ")
    for order in MANY:
        cursor = walker.start()
        for token in vocab.spelt[walker.left][order]:
            assert token in cursor.allowed
            cursor.advance(token)
        if not cursor.done:
            assert vocab.end in cursor.allowed
            cursor.advance(vocab.end)
        assert cursor.action == order


@pytest.mark.parametrize("name", NAMES)
def test_where_an_action_begins_another_both_ends_are_offered(name):
    vocab = vocabulary(name)
    cursor = Walker(Flat(("AB", "AB!")), vocab).start()
    for token in cursor.forced:
        cursor.advance(token)
    assert vocab.end in cursor.allowed
    assert len(cursor.allowed) == 2
    assert not cursor.done
    assert cursor.action is None
    other = cursor.fork()
    cursor.advance(vocab.end)
    assert (cursor.action, cursor.text, cursor.allowed, cursor.forced) == ("AB", "AB", (), [])
    other.advance(next(token for token in other.allowed if token != vocab.end))
    for token in other.forced:
        other.advance(token)
    assert (other.action, other.text) == ("AB!", "AB!")


def test_a_single_action_is_forced_from_start_to_end():
    for name in NAMES:
        walker = Walker(SMALL["one"], vocabulary(name), "Move:")
        run = walker.start().forced
        cursor = walker.start()
        for token in run:
            assert not cursor.done
            cursor.advance(token)
        assert cursor.action == "only this"


@pytest.mark.parametrize("choices", [*SMALL.values(), ORDERS], ids=[*SMALL, "orders"])
def test_forced_runs_stop_at_choices_and_allowed_sets_are_sorted(choices):
    walker = Walker(choices, vocabulary("crossing"))
    for seed in range(20):
        cursor, key = walker.start(), Key(seed)
        while not cursor.done:
            assert list(cursor.allowed) == sorted(set(cursor.allowed))
            for token in cursor.forced:
                assert cursor.allowed == (token,)
                cursor.advance(token)
            assert len(cursor.allowed) != 1
            if not cursor.done:
                cursor.advance(cursor.allowed[key.at(len(cursor.tokens)).integer(len(cursor.allowed))])


def test_forks_do_not_touch_each_other():
    walker = Walker(ORDERS, vocabulary("spaced"))
    for seed in range(10):
        cursor = walker.start()
        for step in range(25):
            cursor.advance(cursor.allowed[Key(seed).at(step).integer(len(cursor.allowed))])
        before = (cursor.text, cursor.allowed, list(cursor.tokens))
        ahead = cursor.fork()
        while not ahead.done:
            ahead.advance(ahead.allowed[0])
        assert (cursor.text, cursor.allowed, list(cursor.tokens)) == before
        assert ahead.text.startswith(cursor.text)


@pytest.mark.parametrize("choices", [SMALL["prefixes"], BUILDS], ids=["flat", "sheet"])
def test_any_other_token_is_refused(choices):
    vocab = vocabulary("spaced")
    cursor = Walker(choices, vocab).start()
    while not cursor.done:
        before = (cursor.allowed, list(cursor.tokens))
        for token in set(range(vocab.size)) - set(cursor.allowed):
            with pytest.raises(ValueError, match="not allowed"):
                cursor.advance(token)
        assert (cursor.allowed, list(cursor.tokens)) == before
        cursor.advance(cursor.allowed[-1])
    with pytest.raises(ValueError, match="not allowed"):
        cursor.advance(vocab.end)


class TwoForABreak:
    """One token a letter, except that a line break takes two."""

    end, size = 0, 0x110000

    def __init__(self):
        self.spelt = {}

    def encode(self, text):
        return [token for letter in text for token in ((1, 2) if letter == "\n" else (ord(letter),))]

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        return "".join(map(chr, ids)).replace("\x01\x02", "\n")

    def decode_all(self, rows):
        return [self.decode(row) for row in rows]


def test_a_line_break_may_take_several_tokens():
    for left in ("\n", "Move:"):
        walks = all_walks(Walker(BUILDS, TwoForABreak(), left))
        assert {walk.text for walk in walks} == {"\n".join(p) for a in BUILDS for p in permutations(a.split("\n"))}


# --- lines that leave


def rebuilt(sheet, written):
    """Which lines may come next, found by trying: the reference."""
    options = {option for slot in sheet.slots for option in slot.options}
    one_more = Sheet(sheet.slots, len(written) + 1)
    return {option for option in options if one_more.canonical([*written, option]) is not None}


@pytest.mark.parametrize("choices", [BUILDS, TANGLED, SMALL["full"]], ids=["builds", "tangled", "full"])
def test_removal_equals_rebuilding(choices):
    lines = SheetLines.of(choices)
    tokens = [tuple(text.encode()) for text in lines.texts]
    trie = grow(tokens, lines.places)
    for action in choices:
        whole = action.split("\n")
        for size in range(len(whole)):
            for written in permutations(whole, size):
                live = lines.open_after([lines.texts.index(line) for line in written])
                left = rebuilt(choices, written)
                assert {text for text, bits in zip(lines.texts, lines.places, strict=True) if bits & live} == left
                assert shape(trie, live, lines) == shape(grow([tuple(text.encode()) for text in left], [1] * len(left)))


def shape(node, live=1, lines=None):
    """Return the part of a trie that a walk can see."""
    ends = node.line >= 0 and (lines is None or bool(lines.places[node.line] & live))
    return ends, {token: shape(node.children[token], live, lines) for token in node.tokens(live)}


def test_removal_equals_rebuilding_on_many_orders():
    lines = SheetLines.of(ORDERS)
    for seed in range(5):
        written = ORDERS.sample(Key(seed)).split("\n")[: 2 + seed]
        live = lines.open_after([lines.texts.index(line) for line in written])
        done = {" ".join(line.split()[:2]) for line in written}
        left = {order for unit in {slot.name for slot in ORDERS.slots} - done for order in ORDERS_BY_UNIT[unit]}
        assert {text for text, bits in zip(lines.texts, lines.places, strict=True) if bits & live} == left


ORDERS_BY_UNIT = {slot.name: slot.options for slot in ORDERS.slots}


def test_the_order_of_removal_does_not_matter():
    for choices in (BUILDS, TANGLED):
        lines = SheetLines.of(choices)
        opened = {}
        for action in choices:
            for written in permutations(lines.texts.index(line) for line in action.split("\n")):
                for size in range(len(written) + 1):
                    key = tuple(sorted(written[:size]))
                    assert opened.setdefault(key, lines.open_after(written[:size])) == lines.open_after(written[:size])


def test_random_sheets_are_never_a_dead_end():
    vocab = vocabulary("crossing")
    for seed in range(60):
        key = Key(seed)
        pool = ["WAIVE", "X", "X Y", "Y", "Z", "Z Z"]
        slots = []
        for index in range(2 + key.at("n").integer(3)):
            options = [line for n, line in enumerate(pool) if key.at("in", index, n).integer(3) == 0]
            slots.append(Slot(str(index), tuple(options or ["WAIVE"])))
        sheet = Sheet(slots, 1 + key.at("fill").integer(len(slots)))
        walks = all_walks(Walker(sheet, vocab))
        assert {walk.action for walk in walks} == set(sheet)
        assert all(count == 1 for count in Counter(walk.text for walk in walks).values())


def test_lines_that_cannot_stand_together_are_a_defect():
    lines = SheetLines.of(Sheet([Slot("a", ("W",)), Slot("b", ("W", "V"))]))
    with pytest.raises(ValueError, match="no place"):
        lines.open_after([lines.texts.index("W")] * 3)


def test_other_choices_are_refused():
    class Open(Choices):
        __contains__ = __iter__ = count = first = sample = parse = None

    with pytest.raises(BadParameter, match="Only Flat and Sheet"):
        Walker(Open(), vocabulary("spaced"))


# --- speed, printed for the reader of the log


def test_compile_and_step_times():
    for name in NAMES:
        vocab = vocabulary(name)
        start = time.perf_counter()
        Walker(MANY, vocab)
        first = time.perf_counter() - start
        start = time.perf_counter()
        walker = Walker(MANY, vocab)
        again = time.perf_counter() - start
        sheet = Walker(ORDERS, vocab)
        start, steps = time.perf_counter(), 0
        for walks, seed in ((walker, 1), (sheet, 2)):
            for turn in range(20):
                cursor = walks.start()
                while not cursor.done:
                    allowed = cursor.allowed
                    cursor.advance(allowed[(seed + turn * steps) % len(allowed)])
                    steps += 1
        step = (time.perf_counter() - start) / steps
        figures = f"{first * 1e3:.1f} ms, after encoding {again * 1e3:.2f} ms; {step * 1e6:.2f} microseconds a step"
        print(f"{name}: {MANY.count} orders compiled in {figures}")  # noqa: T201 - for the reader of the log
        assert isinstance(vocab, TokenizersVocabulary)
        assert steps > 300

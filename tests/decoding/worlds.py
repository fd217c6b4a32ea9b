"""Fixtures of the decoding tests: small tokenizers trained on the spot, and choices with every trap in them."""

from functools import cache

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.vocabulary import TokenizersVocabulary

PROVINCES = ("PAR", "BUR", "MAR", "GAS", "PIC", "BRE", "SPA/SC", "SPA/NC", "POR", "ENG", "LON", "WAL")
UNITS = ("A PAR", "F BRE", "A MAR", "F SPA/SC", "A GAS", "A BUR", "F LON", "A PIC", "F ENG", "A POR", "F WAL", "A MUN")


def orders_of(unit):
    """Diplomacy-like orders: each move of an army may go on with VIA, so many orders begin others."""
    moves = [f"{unit} - {place}" for place in PROVINCES]
    supports = [f"{unit} S {other} - {place}" for other in UNITS[:5] for place in PROVINCES[:5] if other != unit]
    return (f"{unit} H", *moves, *(f"{move} VIA" for move in moves if unit[0] == "A"), *supports)


ORDERS = Sheet([Slot(unit, orders_of(unit)) for unit in UNITS])
MANY = Flat([order for unit in UNITS for order in orders_of(unit)])
BUILDS = Sheet([Slot(home, (f"A {home} B", f"F {home} B", "WAIVE")) for home in ("BRE", "PAR", "MAR", "LON")], fill=2)
TANGLED = Sheet(
    [
        Slot("one", ("WAIVE", "X")),
        Slot("two", ("WAIVE", "Y", "X")),
        Slot("three", ("X Y", "Z", "Y")),
        Slot("4", ("Z",)),
    ],
    fill=3,
)
SMALL = {
    "letters": Flat(("C", "D")),
    "words": Flat(("COOPERATE", "DEFECT")),
    "demands": Flat([str(n) for n in range(13)]),
    "vectors": Flat([f"[{a}, {b}]" for a in range(3) for b in range(3)]),
    "prefixes": Flat(("A PAR - BUR", "A PAR - BUR VIA", "A PAR", "A PAR H", "A PARSEC")),
    "accents": Flat(("Sí", "Síí", "日本", "日", "🂡🂢", "🂡")),
    "spaces": Flat((" lead", "lead", "lead ", "le ad", "lead  ")),
    "one": Flat(("only this",)),
    "builds": BUILDS,
    "tangled": TANGLED,
    "full": Sheet([Slot("a", ("A H", "A HX")), Slot("b", ("B H", "B"))]),
}
LEFTS = ("", "\n", "My move: ", "Move:", "assistant\n\n", "(")
_TEXTS = [*MANY.actions, *("\n".join(MANY.actions[n : n + 3]) for n in range(0, 300, 2))]
_TEXTS += ["My move: COOPERATE\nMove: DEFECT, then 10 or 11 or 12: [1, 2]\n\n", "only this\n", "lead  lead"] * 20


def train(pre_tokenizer, decoder, normalizer=None):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizer, decoder
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(_TEXTS, trainer)
    return tokenizer


@cache
def tokenizer(name):
    byte_level = pre_tokenizers.ByteLevel
    match name:
        case "spaced":  # a leading space makes another token of a word
            return train(byte_level(add_prefix_space=False), decoders.ByteLevel())
        case "prefixed":  # a space is put before whatever begins a text
            return train(byte_level(add_prefix_space=True), decoders.ByteLevel())
        case "crossing":  # merges run over spaces and line breaks
            return train(byte_level(add_prefix_space=False, use_regex=False), decoders.ByteLevel())
        case "folding":  # writes no capitals
            return train(byte_level(add_prefix_space=False), decoders.ByteLevel(), normalizers.Lowercase())


NAMES = ("spaced", "prefixed", "crossing")


def vocabulary(name):
    return TokenizersVocabulary(tokenizer(name), end=0)


def random_walk(walker, seed):
    """A finished cursor, all tokens at each node equally likely."""
    cursor, key = walker.start(), Key(seed)
    while not cursor.done:
        allowed = cursor.allowed
        cursor.advance(allowed[key.at(len(cursor.tokens)).integer(len(allowed))])
    return cursor


def all_walks(walker):
    """Every walk there is, finished."""
    waiting, finished = [walker.start()], []
    while waiting:
        cursor = waiting.pop()
        if cursor.done:
            finished.append(cursor)
        for token in cursor.allowed:
            ahead = cursor.fork()
            ahead.advance(token)
            waiting.append(ahead)
    return finished

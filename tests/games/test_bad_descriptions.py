"""Bad descriptions of games: each is one sentence with its line and field, and no damage ends in a traceback."""

import random
from pathlib import Path

import pytest

from stratagem.base.errors import BadParameter, CannotCompute, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.conformance.verify import verify
from stratagem.games.drawn.description import GameDescription
from stratagem.games.drawn.reading import read_description, write_description
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.tree_walk import walk

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "games").glob("*.toml"))
TEXTS = {path.stem: path.read_text() for path in EXAMPLES}
TRAILING = "\n[[steps]]\n"
BAD = [
    ("kuhn", 'name = "Kuhn poker"\n', "", "has no `name`"),
    ("kuhn", 'name = "Kuhn poker"', "name = 3", "line 2, has 3 as `name`, where a text is needed"),
    ("kuhn", 'name = "Kuhn poker"', 'name = "a\\nb"', "line 2, is wrong: a game needs a `name` of one line"),
    ("kuhn", 'unit = "chip"', 'unit = "big chip"', "line 3, is wrong: a game needs a `unit` of one word"),
    ("kuhn", 'unit = "chip"', "seats = 5", "line 3, is wrong: a game needs `seats` from 1 to 4, a whole number, not 5"),
    ("kuhn", 'unit = "chip"', "seats = true", "line 3, has True as `seats`, where a whole number is needed"),
    ("kuhn", 'unit = "chip"', "rounds = 1000000", "line 3, is wrong: a game needs `rounds` from 1 to 100"),
    ("kuhn", 'unit = "chip"', "rounds = 0", "line 3, is wrong: a game needs `rounds` from 1 to 100"),
    ("kuhn", 'unit = "chip"', "continuation = 1.5", "line 3, is wrong: a game needs `continuation` from 0 to 1"),
    ("kuhn", 'unit = "chip"', "continuation = nan", "line 3, has a number in `continuation` that is not from"),
    ("kuhn", 'unit = "chip"', "wording = 7", "line 3, is wrong: a game needs `wording` from 0 to 2"),
    ("kuhn", 'unit = "chip"', "colour = 1", "line 3, has the unknown key `colour`: a game has name, steps, items"),
    ("kuhn", 'unit = "chip"', 'unit = "chip', "line 3, has a mistake of TOML"),
    ("kuhn", 'unit = "chip"', 'unit = "a"\nunit = "b"', "line 4, has a mistake of TOML: Cannot overwrite a value"),
    ("kuhn", 'unit = "chip"', f"unit = {'[' * 3000}", "has a mistake of TOML: it is nested too deeply"),
    ("kuhn", 'unit = "chip"', "#" * 20_000, "has more than 20,000 characters"),
    ("kuhn", "[[items]]", "[items]", "`items` that are no tables: write each as [[items]]"),
    ("kuhn", "[[items]]", "items = 3\n[[other]]", "line 5, has `items` that are no tables"),
    ("kuhn", 'name = "card"', 'name = "my card"', "line 6, is wrong: the item 'my card' needs a `name` of one"),
    (
        "kuhn",
        'name = "card"',
        'name = "coin"',
        "line 12, is wrong: the step deal has no item 'card' (the game has coin)",
    ),
    ("kuhn", '["J", "Q", "K"]', "[]", "line 7, is wrong: the item card needs `values` of different names, not []"),
    ("kuhn", '["J", "Q", "K"]', '["J", "J"]', "line 7, is wrong: the item card needs `values` of different names"),
    ("kuhn", '["J", "Q", "K"]', '["J", 1]', "line 7, is wrong: the item card needs `values` that are all names or"),
    (
        "kuhn",
        '["J", "Q", "K"]',
        '["J", "<b>"]',
        "line 7, is wrong: the item card needs `values` of plain names, not '<b>'",
    ),
    ("kuhn", '["J", "Q", "K"]', "[3, 1, 2]", "line 7, is wrong: the item card needs `values` from low to high"),
    ("auction", "[1, 2, 3]", '["3", "7"]', "is wrong: the step sale has a worth that counts, and the values of the"),
    ("auction", '"bid"', '"value"', "is wrong: the step choose has the name 'value', which an item has"),
    ("kuhn", '["J", "Q", "K"]', "[1, 2.5]", "line 7, has 2.5 as `values`, where a name or a whole number is needed"),
    ("kuhn", '["J", "Q", "K"]', f"[1, 1{'0' * 400}]", "line 7, has a number in `values` that is not from -1,000,000"),
    (
        "kuhn",
        '["J", "Q", "K"]',
        str([*range(41)]),
        "line 5, is wrong: the item card needs `copies` of at least 1 and at",
    ),
    ("kuhn", '["J", "Q", "K"]', '["J"]', "line 7, is wrong: the steps deal up to 2 cards, and there are 1"),
    (
        "kuhn",
        '["J", "Q", "K"]',
        '["J", "Q"]\ncopies = 0',
        "line 8, is wrong: the item card needs `copies` of at least 1",
    ),
    ("kuhn", '["J", "Q", "K"]', '["J", "Q"]\nagain = 1', "line 8, has 1 as `again`, where true or false is needed"),
    ("kuhn", '["J", "Q", "K"]', '["J", "Q"]\nagain = true\ncopies = 2', "is drawn `again`, so it has neither `copies`"),
    (
        "kuhn",
        '"K"]',
        '"K"]\nfaces = 2',
        "line 8, has the unknown key `faces`: item has name, values, copies, suits, again",
    ),
    ("kuhn", 'do = "ante"', "do = [1]", "line 10, has the unknown step [1]: `do` is one of deal, show, swap"),
    ("kuhn", 'do = "ante"', 'do = "anti"', "line 10, has the unknown step 'anti': `do` is one of deal, show, swap"),
    ("kuhn", 'do = "ante"', "amount = 1", "line 9, has the unknown step None: `do` is one of deal"),
    (
        "kuhn",
        'do = "ante"',
        'do = "ante"\namount = 0',
        "line 11, is wrong: the step ante has a number of chips that is not",
    ),
    ("kuhn", 'do = "ante"', 'do = "ante"\namount = "1"', "line 11, has '1' as `amount`, where a number is needed"),
    ("kuhn", 'do = "ante"', 'do = "ante"\nstake = 1', "line 11, has the unknown key `stake`: ante has amount"),
    (
        "kuhn",
        'do = "deal"',
        'do = "deal"\ncount = 9',
        "line 14, is wrong: the step deal has a number of pieces that is not",
    ),
    ("kuhn", 'do = "deal"', 'do = "deal"\nto = "third"', "line 14, is wrong: the step deal has the role 'third'"),
    ("kuhn", 'do = "deal"', 'do = "deal"\nto = "nobody"', "line 14, has 'nobody' as `to`, where one of each, first"),
    ("kuhn", 'do = "deal"', 'do = "deal"\nto = "first"', "is wrong: the step showdown has a showdown of the item card"),
    ("kuhn", 'do = "deal"\n', 'do = "ante"\n', "line 19, is wrong: the step showdown has a showdown of the item card"),
    (
        "kuhn",
        'check_word = "PASS"',
        "size = -1",
        "line 17, is wrong: the step bet has a number of chips that is not above 0",
    ),
    ("kuhn", 'check_word = "PASS"', "raises = 9", "line 17, is wrong: the step bet has a number of bets and raises"),
    ("kuhn", 'check_word = "PASS"', 'check_word = "BET"', "is wrong: the step bet has a name that another action has"),
    ("kuhn", 'check_word = "PASS"', 'check_word = "a/b"', "line 17, is wrong: the step bet has the name 'a/b'"),
    (
        "kuhn",
        'do = "showdown"',
        'do = "showdown"\norder = ["best"]',
        "line 21, has 'best' as `order`, where one of high",
    ),
    (
        "kuhn",
        'do = "showdown"',
        'do = "showdown"\norder = []',
        "line 21, is wrong: the step showdown has an order that is none",
    ),
    (
        "kuhn",
        'do = "showdown"',
        'do = "showdown"\norder = ["pair"]',
        "an order that needs an open card, and none is laid open",
    ),
    ("kuhn", '\n[[steps]]\ndo = "showdown"', "", "is wrong: the step ante has chips for a pot that no later showdown"),
    (
        "kuhn",
        'do = "showdown"',
        f'do = "showdown"{TRAILING}do = "ante"',
        "line 22, is wrong: the step ante has chips for a pot",
    ),
    (
        "leduc",
        'do = "showdown"',
        'do = "showdown"\nitem = "die"',
        "line 42, is wrong: the step showdown has no item 'die'",
    ),
    ("leduc", 'suits = ["a", "b"]', 'suits = ["a", "a"]', "`suits` that make a different name of every card"),
    ("leduc", ', "K"]\nsuits = ["a", "b"]', "]", "line 7, is wrong: the steps deal up to 3 cards, and there are 2"),
    (
        "liars-dice",
        'wild = "6"',
        'wild = "7"',
        "line 15, is wrong: the step claim has the value '7', which the item die",
    ),
    ("liars-dice", 'wild = "6"', "stake = 0", "line 15, is wrong: the step claim has an amount that is not above 0"),
    (
        "liars-dice",
        "5, 6]",
        f"5, 6, {', '.join(map(str, range(7, 30)))}]",
        "the step claim has 58 claims, which is more than",
    ),
    (
        "liars-dice",
        '\n[[steps]]\ndo = "deal"\nitem = "die"\n',
        "",
        "claims about the item die, which not every player has",
    ),
    (
        "liars-dice",
        'name = "Liar\'s dice"',
        'name = "L"\nseats = 1',
        "is wrong: the step claim has claims for one player",
    ),
    (
        "auction",
        'do = "sale"',
        'do = "sale"\nprice = "third"',
        "line 21, has 'third' as `price`, where one of first, second",
    ),
    ("auction", 'do = "sale"', 'do = "sale"\nbid = "offer"', "no earlier choice 'offer' (before it stand bid)"),
    ("auction", 'do = "sale"', 'do = "sale"\namounts = [1, 2]', "line 21, is wrong: the step sale has 2 amounts for 3"),
    ("auction", 'do = "sale"', 'do = "sale"\nreserve = -1', "line 21, is wrong: the step sale has an amount below 0"),
    ("auction", "options = [1, 2, 3]", "options = [3, 2, 1]", "is wrong: the step sale has amounts that do not grow"),
    ("auction", "options = [1, 2, 3]", 'options = ["one", "two"]', "no amounts for options that are no numbers"),
    ("auction", "options = [1, 2, 3]", 'options = [1, 2, "²"]', "no amounts for options that are no numbers"),
    ("auction", "options = [1, 2, 3]", "options = [1]", "line 17, is wrong: the step choose has a number of options"),
    ("auction", "options = [1, 2, 3]", "options = [{ cost = 1 }, 2]", "line 17, has no `word`"),
    ("auction", "options = [1, 2, 3]", "options = [{ word = 1, cos = 1 }, 2]", "line 17, has the unknown key `cos`"),
    (
        "auction",
        "options = [1, 2, 3]",
        'options = [1, { word = "2", needs = ["1"] }]',
        "is wrong: the step choose has no item 'card' (the game has value)",
    ),
    (
        "auction",
        "options = [1, 2, 3]",
        'options = [1, { word = "2", needs = ["7"] }]\nneeds_item = "value"',
        "line 17, is wrong: the step choose has an option that needs 7, which not all are values",
    ),
    (
        "auction",
        'do = "choose"',
        f'do = "choose"\nname = "a"\noptions = [1, 2]\nby = "third"{TRAILING}do = "choose"',
        "line 18",
    ),
    (
        "kuhn",
        'do = "deal"\n',
        'do = "choose"\noptions = ["A", { word = "B", needs = ["K"] }]\n',
        "the step choose has the item card, which not every player has been dealt in `needs_item`",
    ),
    (
        "pie",
        'do = "split"',
        'do = "split"\nsum = inf',
        "has a number in `sum` that is not from -1,000,000 to 1,000,000",
    ),
    (
        "pie",
        'do = "split"',
        'do = "split"\nworth = "card"',
        "is wrong: the step split has no item 'card' (the game has none)",
    ),
    ("pie", 'do = "split"', 'do = "split"\ndemand = "bid"', "no earlier choice 'bid' (before it stand demand)"),
    ("pie", '\n[[steps]]\ndo = "split"', "", "a game needs a step that pays, such as showdown, sale, split or table"),
    (
        "pie",
        'do = "split"',
        'do = "pool"\ngift = "demand"\nfactor = 0',
        "line 13, is wrong: the step pool has a factor",
    ),
    (
        "dilemma",
        'over = ["first.move", "second.move"]',
        "over = []",
        "line 12, is wrong: the step table has nothing that the",
    ),
    (
        "dilemma",
        '"second.move"]',
        '"third.move"]',
        "line 12, is wrong: the step table has 'third.move', which is no ROLE",
    ),
    ("dilemma", '"second.move"]', '"second.bid"]', "no earlier choice 'bid' (before it stand move)"),
    (
        "dilemma",
        "[1, 1]]]",
        "[1]]]",
        "line 13, is wrong: the step table has no 2 amounts for D, D, where lists of 2 x 2",
    ),
    ("dilemma", "[1, 1]]]", '[1, "x"]]]', "line 13, has 'x' among its amounts, where numbers are needed"),
    ("dilemma", "[1, 1]]]", "[1, 9999]]]", "line 13, is wrong: the step table has no 2 amounts for D, D"),
    ("dilemma", 'options = ["C", "D"]', f"options = {[*map(str, range(20))]}", "400 cells, which is more than 64"),
    (
        "dilemma",
        '\n[[steps]]\ndo = "choose"\nname = "move"\noptions = ["C", "D"]\n',
        "",
        "no earlier choice 'move' (before it stand none)",
    ),
    ("dilemma", "rounds = 2", 'steps = [{ do = "ante" }]\nrounds = 2', "has a mistake of TOML"),
    ("dilemma", "rounds = 2", "seats = 1\nrounds = 2", "is wrong: the step table has 'second.move', which is no ROLE"),
]


@pytest.mark.parametrize(("name", "old", "new", "says"), BAD)
def test_mistake_of_a_description_is_one_sentence_with_its_line(name, old, new, says):
    text = TEXTS[name]
    assert text.count(old) >= 1
    with pytest.raises(BadParameter) as refused:
        read_description(text.replace(old, new, 1), "mygame.toml")
    sentence = str(refused.value)
    assert says in sentence
    assert sentence.startswith("mygame.toml")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 500


def damaged(rng: random.Random, text: str) -> str:
    """A text with lines left out, twice, exchanged, or with another word, number or text in them."""
    lines = text.splitlines()
    values = [line.partition(" = ")[2] for some in TEXTS.values() for line in some.splitlines() if " = " in line]
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(rng.randrange(len(lines)), lines[at])
            case 2:
                lines[at] = (
                    lines[at].partition(" = ")[0]
                    + " = "
                    + rng.choice([*values, "-1", "0", "1e9", "true", '""', "[]", "{}"])
                )
            case 3:
                lines.insert(at, rng.choice([line for some in TEXTS.values() for line in some.splitlines()]))
            case 4:
                line = lines[at]
                place = rng.randrange(len(line) + 1)
                lines[at] = line[:place] + rng.choice('"[]{}=,#\\é1') + line[place + rng.randrange(2) :]
            case _:
                other = rng.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
        lines = lines or [""]
    return "\n".join(lines) + "\n"


def read_damaged(text: str) -> tuple[GameDescription | None, str]:
    """The game that a text describes, or the sentence that refuses it."""
    try:
        return read_description(text), ""
    except StratagemError as error:
        return None, str(error)


def check_damage(seeds: range) -> int:
    """Damage examples, and check that each is refused in one sentence or is a game that keeps every rule."""
    accepted = 0
    for seed in seeds:
        rng = random.Random(seed)
        text = damaged(rng, rng.choice(list(TEXTS.values())))
        known, sentence = read_damaged(text)
        assert "\n" not in sentence
        if known is None:
            continue
        accepted += 1
        assert read_description(write_description(known)) == known
        report = verify(WrittenGame(text=text), episodes=1)
        failed = [(check.name, check.detail) for check in report.checks if check.outcome == "failed"]
        # one episode may meet no chance, and a card may follow from one's own
        harmless = [detail for _, detail in failed if "every table is alike" in detail or "ever differs" in detail]
        assert len(failed) == len(harmless), (text, failed)
    return accepted


def test_damaged_description_is_refused_or_keeps_every_rule():
    assert 2 < check_damage(range(24)) < 23


@pytest.mark.long
def test_damaged_descriptions_are_refused_or_keep_every_rule():
    check_damage(range(1000, 3000))


@pytest.mark.parametrize("name", TEXTS)
def test_description_is_written_back_as_it_was(name):
    known = read_description(TEXTS[name])
    assert read_description(write_description(known)) == known
    assert WrittenGame.of(known).description == known


def test_tree_beyond_the_budget_is_refused_before_it_is_walked():
    text = TEXTS["leduc"].replace('"K"]', '"K", 4, 5]').replace('["J", "Q"', "[1, 2").replace('"K", 4', "3, 4")
    large = text.replace('do = "deal"\n\n', 'do = "deal"\ncount = 4\n\n', 1).replace('"b"]', '"b", "c", "d"]')
    with pytest.raises(CannotCompute, match="beyond the budget"):
        walk(WrittenGame(text=large))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ('["low", "mid", "high"]', "high is a name in it, and its rules compare by highest and lowest"),
        ('["J", "Low", "K"]', "low is a name in it, and its rules compare by highest and lowest"),
        ('["Deck", "Q", "K"]', "Deck is a name in it, and its texts have the word deck"),
        ('["J", "NOBODY", "K"]', "NOBODY is a name in it, and its texts have the word Nobody"),
        ('["J", "TURN", "K"]', "TURN is a name in it, and its texts have the word turn"),
    ],
)
def test_values_whose_words_the_rules_use_are_told_in_no_other_words(values, says):
    game = WrittenGame(text=TEXTS["kuhn"].replace('["J", "Q", "K"]', values))
    with pytest.raises(CannotCompute, match=f"Kuhn poker cannot be told in other words: {says}"):
        game.vocabulary()
    assert {check.name: check.outcome for check in verify(game, episodes=1).checks}["disguise"] != "failed"


@pytest.mark.parametrize("options", ['text="x"', 'file="x.toml"', "1", "colour=1", "wording=1, text=3"])
def test_options_that_a_file_decides_are_refused(options):
    path = next(path for path in EXAMPLES if path.stem == "kuhn")
    with pytest.raises(BadParameter, match=r"kuhn\.toml is a game as its file describes it: its one option is wording"):
        make_game(f"{path}({options})")
    assert make_game(f"{path}(wording=1)").description.wording == 1


def test_file_of_a_description_has_its_suffix(tmp_path):
    path = tmp_path / "kuhn.txt"
    path.write_text(TEXTS["kuhn"])
    with pytest.raises(BadParameter, match=r"ends in \.toml"):
        WrittenGame(file=str(path))


def test_an_action_whose_name_another_word_holds_is_told_in_no_other_words():
    game = WrittenGame(text=TEXTS["kuhn"].replace('"PASS"', '"deal"'))
    with pytest.raises(CannotCompute, match="words: deal is a name in it, and its texts have the word dealt"):
        game.vocabulary()

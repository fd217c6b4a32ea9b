"""Names of games that a stranger may have given: bounds of parameters, the trial of OpenSpiel's games, and files.

What may allocate without end runs in a process with 3 GiB, so that a failing test leaves the machine alone.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from stratagem.base.consent.table import allow, commanding
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.file_modules import handed_files
from stratagem.games import Key
from stratagem.games.base import Game
from stratagem.games.bounded import check_bounds, largest_of, make_bounded_game
from stratagem.games.catalogue import GAMES, WRAPPERS, describe, make_game
from stratagem.games.spiel.parameter_files import TEXTS, files_in_game
from stratagem.games.spiel.trial import try_game
from stratagem.players.given import as_game

SRC = Path(__file__).parents[2] / "src" / "stratagem"
FREE = {"games/__init__.py", "games/bounded.py", "games/catalogue.py", "games/playthrough.py", "players/given.py"}
"""Modules that make games which nobody but the user or the program itself names."""
CONSTANT = {"api/games.py", "api/players.py", "language/models/small.py", "language/models/tiny_tokenizer.py"}
"""Modules that make games by names in the program's own tables."""
PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from stratagem.base.errors import BadParameter
from stratagem.games.bounded import make_bounded_game
for name in sys.argv[1:]:
    try:
        make_bounded_game(name)
    except BadParameter as error:
        print("refused", len(str(error)) < 500)
    else:
        print("made", name)
"""


def refusals(*names):
    """Make games in a process of 3 GiB, and return what became of each."""
    command = [sys.executable, "-c", PROGRAM, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.runs
def test_huge_games_of_strangers_are_refused_in_one_sentence():
    names = [
        "spiel:hex(board_size=100000)",
        "spiel:goofspiel(num_cards=1000000)",
        "spiel:blotto(coins=1000,fields=100)",
        "spiel:turn_based_simultaneous_game(game=goofspiel(num_cards=1000000))",
        "spiel:repeated_game(stage_game=matrix_pd(),num_repetitions=-5)",
        "spiel:universal_poker(numRanks=100000)",
        "talk(spiel:hex(board_size=100000),words=[a])",
        "rules:spiel:hex(board_size=100000)",
        "rules:legal:kuhn(hands=1000000000)",
    ]
    assert refusals(*names) == ["refused True"] * len(names)


@pytest.mark.parametrize("name", [
    "kuhn(hands=1000000000)",
    "kuhn(hands=-1000000000000)",
    "auction(seats=1000000)",
    "public-goods(seats=100000000)",
    "public-goods(fine=1e308)",
    "public-goods(fine=1e999)",
    "sender-receiver(states=100000000)",
    "negotiation-v1(pie=1000000000)",
    "negotiation-v2(most=100000)",
    "resistance(attempts=1000000000)",
    "quiz(rounds=1000000000)",
    "ipd(rounds=1000000000)",
    "matrix(payoffs=[[(1e300,0)]])",
    f"matrix(payoffs=[[{'(1,1),' * 200}]])",
    "matrix(payoffs=[[[[[[[[1]]]]]]]])",
    "leduc(retries=1000000)",
    "talk(kuhn(hands=1000000000))",
    "talk(kuhn, rounds=1000000)",
    f"talk(kuhn, words=[{','.join(f'a{n}' for n in range(100))}])",
    "talk(talk(talk(talk(kuhn))))",
    "rules:rules:rules:rules:kuhn",
    "drawn(family=cards, size=large)",
    "kuhn(hands=" + "9" * 1900 + ")",
    "kuhn" + " " * 5000,
    "spiel:hex(" + "(" * 1500,
    "spiel:\ud800",
    "spiel:hex(board_size=99999999999999999999)",
    "spiel:",
])  # fmt: skip
def test_large_or_broken_names_are_refused_before_a_game_is_made(name):
    with commanding(), pytest.raises(StratagemError) as refused:
        check_bounds(name)
    assert len(str(refused.value)) < 2500  # a name, and the names that there are


def test_nan_is_beyond_every_bound():
    from stratagem.games.bounded import check_value

    with pytest.raises(BadParameter, match="at most 10"):
        check_value("kuhn", "hands", float("nan"), 10)


def test_usual_names_are_made():
    for name in ("kuhn(hands=100)", "talk(ipd(rounds=50))", "spiel:hex(board_size=19)", "spiel:go(board_size=19)",
                 "spiel:nim(pile_sizes=3;4)", "rules:legal:kuhn", "leduc"):  # fmt: skip
        assert make_bounded_game(name) == make_game(name)


def test_names_of_the_user_have_no_bounds():
    name = "kuhn(hands=123_456_789)"
    with pytest.raises(BadParameter, match="your own command or call"):
        make_bounded_game("kuhn(hands=123456789)")
    made = as_game(name)
    assert make_bounded_game(name) == make_bounded_game(describe(made)) == made
    talk = as_game("talk(kuhn(hands=123_456_788))")
    assert make_bounded_game("kuhn(hands=123456788)") == talk.game


def test_names_of_the_user_hold_in_worker_processes():
    as_game("kuhn(hands=123_456_787)")
    assert "kuhn(hands=123456787)" in handed_files().consent.names


def test_no_module_makes_a_stranger_game_without_bounds():
    using = {
        path.relative_to(SRC).as_posix()
        for path in SRC.rglob("*.py")
        if re.search(r"(?<![`\w.])make_game\b", path.read_text("utf-8"))
    }
    assert using - FREE == CONSTANT


def factories():
    """Every factory of a game of ours, with its name."""
    return {**GAMES, **WRAPPERS}.items()


@pytest.mark.parametrize(("name", "factory"), factories())
def test_every_number_of_a_game_declares_its_largest_value(name, factory):
    kind = factory
    while hasattr(kind, "func"):
        kind = kind.func
    if not isinstance(kind, type):  # a game of OpenSpiel with a face
        kind = type(factory())
    numbers = {field for field, told in kind.__annotations__.items() if told in ("int", "float")}
    assert numbers <= set(kind.largest), f"{name} declares no `largest` for {numbers - set(kind.largest)}"
    assert issubclass(kind, Game)


@pytest.mark.parametrize("name", [name for name, factory in factories() if largest_of(factory)])
def test_largest_values_make_a_game_that_is_small(name):
    import tracemalloc

    factory = {**GAMES, **WRAPPERS}[name]
    low = {"continuation": "continuation=1"}
    options = [low.get(option, f"{option}={value}") for option, value in largest_of(factory).items()
               if option not in {"payoffs", "missions", "until", "templates", "limit"}]  # fmt: skip
    inner = ["public-goods(seats=64, rounds=10000)"] if name in WRAPPERS else []
    rows = ",".join(["[" + ",".join(["(1,2)"] * 14) + "]"] * 14)
    table = [f"payoffs=[{rows}]", f"labels=[{','.join(f'a{n}' for n in range(14))}]"] if name == "matrix" else []
    tracemalloc.start()
    try:
        game = make_bounded_game(f"{name}({', '.join([*inner, *table, *options])})")
        state = game.start(Key(0))
        view = state.view(state.to_act[0])
        assert view.choices.summary()
        assert view.rules
        assert tracemalloc.get_traced_memory()[1] < 1 << 28
    finally:
        tracemalloc.stop()


def test_every_text_parameter_of_openspiel_is_a_known_text_or_a_file():
    import pyspiel

    texts = {
        option
        for kind in pyspiel.registered_games()
        for option, value in kind.parameter_specification.items()
        if isinstance(value, str)
    }
    files = {"boards_file", "filename", "instances_file", "puzzles_root", "word_list_file"}
    assert texts - TEXTS == files, "a new text parameter of OpenSpiel: does it name a file?"


FILE_GAMES = [
    "spiel:efg_game(filename={})",
    "spiel:nfg_game(filename={})",
    "spiel:bargaining(instances_file={})",
    "spiel:colored_trails(boards_file={})",
    "spiel:crossword(word_list_file={},puzzles_root=x)",
    "spiel:start_at(history=1,game=efg_game(filename={}))",
    "spiel:misere(game=misere(game=nfg_game(filename={})))",
    "talk(spiel:efg_game(filename={}),words=[a])",
    "rules:spiel:efg_game(filename={})",
]


@pytest.mark.parametrize("name", FILE_GAMES)
def test_a_file_of_a_stranger_game_is_not_read(name, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("first line\nTHE SECRET OF THE SECOND LINE\n", encoding="utf-8")
    with pytest.raises(BadParameter, match="would read the file") as refused:
        make_bounded_game(name.format(secret))
    assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize("name", FILE_GAMES[:4])
def test_the_content_of_a_file_is_not_quoted_where_the_user_names_it(name, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("first line\nTHE SECRET OF THE SECOND LINE\n", encoding="utf-8")
    with pytest.raises(BadParameter) as refused:
        as_game(name.format(secret))
    assert "SECRET" not in str(refused.value)
    assert "first" not in str(refused.value)


EFG = """EFG 2 R "one choice" { "A" "B" } ""
p "" 1 1 "" { "l" "r" } 0
t "" 1 "" { 1 -1 }
t "" 2 "" { -1 1 }
"""


def test_a_file_that_the_user_allows_is_read(tmp_path):
    file = tmp_path / "game.efg"
    file.write_text(EFG, encoding="utf-8")
    name = f"spiel:efg_game(filename={file})"
    with commanding():
        with pytest.raises(BadParameter, match=r"sg\.allow"):
            make_bounded_game(name)
        allow(file)
        assert make_bounded_game(name).spec.seats == 2


def test_files_in_game_finds_files_at_every_depth():
    assert files_in_game("hex(board_size=5)") == ()
    assert files_in_game("start_at(history=1;2,game=efg_game(filename=/a))") == ("/a",)


def test_a_trial_does_not_run_a_module_of_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("raise SystemExit(3)", encoding="utf-8")
    (tmp_path / "pyspiel.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert try_game("kuhn_poker(players=3)").passed

"""The person at the keyboard: what is shown, what is understood, what is asked again, and how one leaves."""

import io
import sys

import pytest

from stratagem.base.errors import CannotCompute
from stratagem.base.visible import visible
from stratagem.games.base import View
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.players.base import Ask, Player
from stratagem.players.catalogue import make_player, patterns, player_names
from stratagem.players.human import Human, Quit, Terminal, at_keyboard
from stratagem.players.patterns import PATTERNS
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, record

UNITS = Sheet([Slot("A PAR", ("A PAR H", "A PAR - BUR", "A PAR - BUR VIA")), Slot("F BRE", ("F BRE H", "F BRE - MAO"))])
BUILDS = Sheet([Slot(home, (f"A {home} B", f"F {home} B", "WAIVE")) for home in ("BRE", "PAR", "MAR", "LON")], fill=2)


class Told(View):
    """A view with choices and a situation of our own."""

    def __init__(self, choices, situation="The situation.", game="kuhn"):
        super().__init__(make_game(game), 0, None)
        self.own, self.said = choices, situation

    choices = property(lambda self: self.own)
    situation = property(lambda self: self.said)


def at(typed, writes=None):
    """A human who will type these lines, and what stands on the screen."""
    screen = writes or io.StringIO()
    return Human(Terminal(io.StringIO("".join(f"{line}\n" for line in typed)), screen)), screen


def asked(human, view):
    return human.turn(Ask(view, Key(1), 0, 0, 0, None))


def typed(choices, *lines):
    """Return the actions after these typed lines, and the whole screen."""
    keys, screen = io.StringIO("".join(f"{line}\n" for line in lines)), io.StringIO()
    move = asked(Human(Terminal(keys, screen)), Told(choices))
    assert keys.read() == "", "not everything was read"
    return move.action, screen.getvalue()


def match(game, opponent, lines, episodes=1):
    made = make_game(game)
    human, screen = at(lines)
    setups = rotate_seats(Match(made, [human, make_player(opponent, made)]), episodes, Key(3), name="h")
    return setups, screen


@pytest.mark.parametrize("line", ["BET", "bet", "  Bet  ", "**bet**", "2", " 2 ", "I bet", "٢"])
def test_an_action_is_typed_as_a_model_may_write_it_or_by_its_number(line):
    action, screen = typed(Flat(("PASS", "BET")), line)
    assert action == "BET"
    assert "  1 PASS    2 BET\nYour choice > " in screen


@pytest.mark.parametrize(
    "line", ["", "   ", "fly", "3", "0", "-1", "1.5", "1e0", "9" * 5000, "A" * 10**6, "\x1b[2J", "\ud800"]
)
def test_anything_else_is_answered_with_one_sentence_and_asked_again(line):
    action, screen = typed(Flat(("PASS", "BET")), line, line, "1")
    assert action == "PASS"
    assert screen.count("> That is no choice: type one or its number, or ? to see all.\n") == 2


def test_several_actions_at_once_are_asked_again():
    action, screen = typed(Flat(("PASS", "BET")), "pass or bet", "bet")
    assert action == "BET"
    assert "That names more than one choice: type one alone." in screen


def test_where_actions_are_numbers_there_are_no_others():
    action, screen = typed(Flat([str(n) for n in range(11)]), "11", "2")
    assert action == "2"
    assert "\n  0     1     2     3" in screen
    assert "That is no choice: type one, or ? to see all." in screen


def test_where_a_letter_is_an_action_it_is_no_command():
    action, _ = typed(Flat(("Q", "J")), "q")
    assert action == "Q"
    assert typed(Flat(("?", "J")), "?")[0] == "?"


def test_a_long_list_is_cut_and_shown_whole_on_request():
    choices = Flat([f"move {n}x" for n in range(100)])
    action, screen = typed(choices, "?", "100")
    first, _, rest = screen.partition("Your choice > ")
    assert action == "move 99x"
    assert " 24 move 23x" in first
    assert "move 24x" not in first
    assert "  and 76 more: ? lists them\n" in first
    assert "100 move 99x" in rest
    assert "more" not in rest
    assert rest.startswith("kuhn, seat 0\nYou play 6 hands")
    assert max(map(len, first.splitlines()[-6:])) <= 100


def test_a_list_without_end_is_never_listed():
    class Endless(Flat):
        count = 10**12

        def __iter__(self):
            yield from (f"move {n}x" for n in range(5000))
            raise AssertionError("far more is listed than anybody reads")

    action, screen = typed(Endless(["move 7x"]), "?", "move 7x")
    assert action == "move 7x"
    assert "and 999999999000 more\n" in screen


def test_rules_are_told_first_and_again_only_for_another_seat():
    setups, screen = match("ipd(rounds=2)", "TitForTat", ["1", "1", "1", "1"], 2)
    list(play(setups, live=1))
    told = screen.getvalue()
    assert told.count("What you and the other player get in a round") == 2
    assert told.count("ipd, seat 0") == told.count("ipd, seat 1") == 1
    assert told.index("ipd, seat 0") < told.index("No round has been played yet.") < told.index("1. you COOPERATE")
    assert "q or Ctrl-D leaves" in told


@pytest.mark.parametrize(
    ("game", "opponent", "said"),
    [
        ("ipd(rounds=3)", "ipd/AlwaysDefect", "2. you COOPERATE, they DEFECT"),
        ("negotiation-v1", "Hard", "Round 1: you demanded 1, they demanded"),
        ("tic-tac-toe", "first-legal", "1 X O"),
        ("auction", "Sniper", "you earned"),
        ("kuhn", "AlwaysBet", "The other player bet."),
    ],
)
def test_a_game_can_be_played_to_its_end(game, opponent, said):
    setups, screen = match(game, opponent, ["1"] * 20, 2)
    first, second = play(setups, live=1)
    assert first.finished
    assert second.finished
    assert "human@1" in first.players
    own = [row for episode in (first, second) for row in episode.decisions if episode.players[row.seat] == "human@1"]
    assert {row.how for row in own} == {"free"}
    assert said in screen.getvalue()


def test_another_tables_turn_waits():
    setups, screen = match("kuhn(hands=1)", "random", ["1"] * 8, 4)
    episodes = list(play(setups, live=1))
    mine = [[row.info_key[0] for row in e.decisions if e.players[row.seat] == "human@1"] for e in episodes]
    cards = [card for hand in mine for card in (*hand, hand[-1])]  # once more when the hand is over
    shown = [line[13] for line in screen.getvalue().splitlines() if line.startswith("Your card is ")]
    assert shown == cards


def test_a_round_that_is_over_is_told_with_what_it_paid():
    human, screen = at([])
    state = make_game("negotiation-v1(rounds=2)").start(Key(1))
    state.play({0: "4", 1: "6"})
    human.hear(state.view(0), 4.0, over=False)
    assert screen.getvalue() == "\nThe round pays you +4.\n"
    state.play({0: "5", 1: "6"})
    human.hear(state.view(0), 0.0, over=True)
    assert "\nRound 2: you demanded 5, they demanded 6: no deal.\nThe game is over.\n" in screen.getvalue()
    assert screen.getvalue().endswith("\nThe last round pays you +0.\n")


@pytest.mark.parametrize("lines", [[], ["q", "1", "1"], ["Q", "1", "1"], ["fly", " q ", "1", "1"]])
@pytest.mark.parametrize("choices", [Flat(("PASS", "BET")), UNITS, BUILDS], ids=["flat", "units", "builds"])
def test_q_and_the_end_of_input_leave_the_table(lines, choices):
    with pytest.raises(Quit, match=r"^You left the table, so the match ended there\.$"):
        typed(choices, *lines)


class Interrupted(io.StringIO):
    def readline(self, size=-1):
        raise KeyboardInterrupt


class Hung(io.StringIO):
    def readline(self, size=-1):
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("reads", [Interrupted, Hung])
def test_an_interrupt_and_a_lost_terminal_leave_the_table(reads):
    with pytest.raises(Quit):
        asked(Human(Terminal(reads(), io.StringIO())), Told(Flat(("PASS", "BET"))))


@pytest.mark.parametrize("reads", [Interrupted, io.StringIO])
def test_what_is_said_after_leaving_stands_on_a_line_of_its_own(reads):
    screen = io.StringIO()
    with pytest.raises(Quit):
        asked(Human(Terminal(reads(), screen)), Told(Flat(("PASS", "BET"))))
    assert screen.getvalue().endswith("Your choice > \n")


def test_a_screen_that_is_gone_leaves_the_table():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    with pytest.raises(Quit):
        asked(Human(Terminal(io.StringIO("1\n"), Gone())), Told(Flat(("PASS", "BET"))))


def test_person_without_a_standard_input_leaves(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Quit):
        Terminal().ask("Your choice")


def test_leaving_ends_the_match_and_keeps_what_was_over(tmp_path):
    setups, _ = match("kuhn(hands=1)", "first-legal", ["1", "1", "q"], 100)
    with pytest.raises(Quit):
        list(record(play(setups, live=1), tmp_path))
    kept = list(read_episodes(tmp_path))
    assert len(kept) >= 1
    assert all(episode.finished for episode in kept)


def test_what_cannot_be_read_is_asked_again():
    reads = io.TextIOWrapper(io.BytesIO(b"\xff\xfe\n"), encoding="utf-8")
    screen = io.StringIO()
    with pytest.raises(Quit):
        asked(Human(Terminal(reads, screen)), Told(Flat(("PASS", "BET"))))
    assert screen.getvalue().count("That is no choice") == 1


def test_the_standard_streams_are_those_of_the_moment(monkeypatch, capsys):
    human = make_player("human", make_game("kuhn"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("bet\n"))
    assert asked(human, Told(Flat(("PASS", "BET")))).action == "BET"
    assert "Your choice > " in capsys.readouterr().out


def test_a_question_is_on_the_screen_before_the_answer_is_awaited():
    class Screen(io.StringIO):
        flushed = 0

        def flush(self):
            self.flushed = self.tell()

    screen = Screen()

    class Watched(io.StringIO):
        def readline(self, size=-1):
            assert screen.flushed == len(screen.getvalue()) > 0
            return "1\n"

    assert asked(Human(Terminal(Watched(), screen)), Told(Flat(("PASS", "BET")))).action == "PASS"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("fine\rgone", "fine\\rgone"),
        ("a\u202eb\u200b\ufeff", "a\\u202eb\\u200b\\ufeff"),
        ("\ud83d", "\\ud83d"),
        ("\x9b31m\x7f\x00\t", "\\x9b31m\\x7f\\x00\\t"),
        ("línea 日本 🂡\nnext", "línea 日本 🂡\nnext"),
    ],
)
def test_what_could_command_a_terminal_is_visible(said, shown):
    assert visible(said) == shown
    human, screen = at(["1"])
    asked(human, Told(Flat((f"one {said}".replace("\n", " "), "two")), said))
    assert f"\n{shown}\n" in screen.getvalue()
    assert all(c.isprintable() or c == "\n" for c in screen.getvalue())


def test_a_screen_that_knows_few_characters_gets_the_others_spelt():
    page = io.BytesIO()
    human, _ = at(["1"], io.TextIOWrapper(page, encoding="ascii"))
    assert asked(human, Told(Flat(("Sí", "日本")), "Was nun, 日本?")).action == "Sí"
    assert b"  1 S\\xed    2 \\u65e5\\u672c" in page.getvalue()


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        (["A PAR - BUR", "2"], "A PAR - BUR\nF BRE - MAO"),
        (["a par - bur via", "f bre h"], "A PAR - BUR VIA\nF BRE H"),
        (["1", "<", "2", "1"], "A PAR - BUR\nF BRE H"),
        (["<", "<", "1", "1"], "A PAR H\nF BRE H"),
        (["", "F BRE H", "4", "1", "1"], "A PAR H\nF BRE H"),
    ],
)
def test_a_sheet_is_filled_line_by_line(lines, action):
    played, screen = typed(UNITS, *lines)
    assert played == action
    assert played in UNITS
    assert "A PAR\n  1 A PAR H" in screen
    assert "F BRE, 1 to go (< goes back) > " in screen


@pytest.mark.parametrize(
    ("lines", "action"),
    [
        (["1", "2"], "A BRE B\nF PAR B"),
        (["", "", "1", "2"], "A MAR B\nF LON B"),
        (["3", "", "", "3"], "WAIVE\nWAIVE"),
        (["1", "", "<", "<", "2", "1"], "F BRE B\nA PAR B"),
    ],
)
def test_some_lines_of_a_sheet_may_stay_empty(lines, action):
    played, screen = typed(BUILDS, *lines)
    assert played == action
    assert played in BUILDS
    assert "BRE, 2 to go (< goes back, an empty line for none) > " in screen


def test_no_more_lines_may_stay_empty_than_there_are_to_spare():
    played, screen = typed(BUILDS, "", "", "", "1", "", "1")
    assert played == "A MAR B\nA LON B"
    assert screen.count("That is no choice") == 2


def test_a_large_sheet_is_never_listed():
    class Large(Sheet):
        def __iter__(self):
            raise AssertionError("all sheets were to be listed")

    sheet = Large([Slot(f"unit {n}", tuple(f"{n} to {m}x" for m in range(300))) for n in range(34)])
    action, screen = typed(sheet, *["7"] * 34)
    assert action == "\n".join(f"{n} to 6x" for n in range(34))
    assert "unit 33, 1 to go" in screen


@pytest.mark.parametrize("name", ["human", "noise(human)", "noise(noise(human), p=0.5)", "random", "noise(random)"])
def test_a_human_is_known_through_what_stands_around(name):
    assert at_keyboard(make_player(name, make_game("kuhn"))) == ("human" in name)
    assert not at_keyboard(None)


def test_a_human_sits_where_it_is_asked_for_and_nowhere_else():
    game = make_game("kuhn")
    human = make_player("Human", game)
    assert isinstance(human, Player)
    assert human.name == "human"
    assert "human" not in player_names(game)
    assert "human" in PATTERNS
    assert "human" in patterns(game)
    with pytest.raises(CannotCompute, match="A human decides at the keyboard"):
        human.policy(game.start(Key(0)).view(0))
    assert not issubclass(Quit, Exception)

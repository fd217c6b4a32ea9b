"""Language models write sheets of orders: always whole where they are constrained, and read up to the closing tag."""

import pytest
from ventriloquist import Ventriloquist, player_of, turn_of

from stratagem.games import Key, make_game
from stratagem.measure.matchups import Evaluator
from stratagem.players.catalogue import make_player
from stratagem.players.modes import before

GAME = make_game("diplomacy(until=1901, judged=False)")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("<orders>\nA PAR H\n</orders>", "<orders>\nA PAR H\n"),
        ("A PAR H\n</orders> and so on", "A PAR H\n"),
        ("A PAR H", "A PAR H"),
        ("</orders>\nA PAR H\n</orders>\n", "</orders>\nA PAR H\n"),
        ("A PAR H\n</order", "A PAR H\n</order"),
    ],
)
def test_what_stands_after_the_closing_tag_is_not_read(text, read):
    assert before(text, "</orders>") == read
    assert before(text, "") == text


@pytest.mark.parametrize(("mode", "style"), [("constrained", "diplomacy-compact"), ("direct", "diplomacy-minimal")])
def test_a_constrained_sheet_is_always_whole(mode, style):
    agent = make_player(f"lm(tiny, mode={mode}, style={style}, max_new_tokens=4)", GAME)
    matchup = Evaluator(3, Key(0)).matchup(GAME, agent, make_player("hold", GAME), ("opponents",))
    rows = [row for episode in matchup.episodes for row in episode.decisions if episode.slots[row.seat] == 0]
    assert {row.how for row in rows} == {"constrained"}
    assert len({row.action for row in rows}) > 5


def test_a_reply_in_tags_is_read_from_a_server():
    view = GAME.start(Key(0)).view(GAME.powers.index("FRANCE"))
    said = "I go south.\n<orders>\nA MAR - SPA\nF BRE - MAO\nA PAR - BUR\n</orders>\nGood luck."
    assert view.choices.parse(before(said, "</orders>")).action == "F BRE - MAO\nA MAR - SPA\nA PAR - BUR"
    assert view.choices.parse(said).action is None


@pytest.mark.parametrize(
    ("mode", "said", "action"),
    [
        ("free", "Hm.\n<orders>\nto all: peace with FRANCE\n</orders>\nBye.", None),
        ("free", "Hm.\n<orders>\nTO ALL: Peace with FRANCE\n</orders>\nBye.", "TO ALL: Peace with FRANCE"),
        ("constrained", "Hm.\n<orders>\nTO ALL: Peace with FRANCE", "TO ALL: Peace with FRANCE"),
        ("direct", "SILENT", "SILENT"),
    ],
)
def test_a_message_of_press_stands_between_the_tags(mode, said, action):
    game = "talk(diplomacy(until=1901, judged=False), channel=both)"
    move = turn_of(player_of(Ventriloquist([said]), mode, style="diplomacy-minimal"), game)
    assert move.action == (action or "TO ALL: Peace with FRANCE")

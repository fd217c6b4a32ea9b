"""Constrained messages of a language model: in every mode the schema or the template holds."""

import pytest
from ventriloquist import Ventriloquist, player_of, turn_of

from stratagem.base.errors import CannotCompute
from stratagem.games import Key, make_game
from stratagem.players.agents import choices_data
from stratagem.players.catalogue import make_player

SCHEMA = (
    "{'type': 'object', 'properties': {'plan': {'enum': ['bet', 'fold']}, 'note': {'type': 'string', 'maxLength': 9}}}"
)
GAME = f"talk(kuhn(hands=1), intents=[state], schema={SCHEMA})"
LINE = '{"plan": "bet", "note": "hi you"}'


def played(mode, *lines, style="plain"):
    engine = Ventriloquist(lines)
    return engine, turn_of(player_of(engine, mode, style=style), GAME)


@pytest.mark.parametrize(
    ("mode", "style", "lines", "action", "how"),
    [
        ("direct", "plain", [LINE], LINE, "constrained"),
        ("direct", "plain", ["SILENT"], "SILENT", "constrained"),
        ("direct", "plain", ["fold, I say"], None, "constrained"),
        ("free", "plain", ["Hm.\n" + LINE.replace(" ", "").replace("hiyou", "hi you") + "\n"], LINE, "free"),
        ("free", "plain", ["my card is k"], "My card is K", "free"),
        ("constrained", "reasoned", ["Hm. Action: " + LINE], LINE, "constrained"),
        ("constrained", "reasoned", ["Hm. Action: my note is long and long"], None, "constrained"),
        ("recover", "plain", ["nonsense\n", LINE], LINE, "recovered"),
        ("recover", "plain", [LINE + "\n"], LINE, "free"),
    ],
)
def test_a_mode_says_what_the_schema_admits(mode, style, lines, action, how):
    _, move = played(mode, *lines, style=style)
    assert move.how == how
    if action is None:
        assert make_game(GAME).start(Key(1)).view(0).choices.parse(move.action).action == move.action
    else:
        assert move.action == action


def test_free_text_of_no_such_form_is_illegal():
    _, move = played("free", 'BET\n{"plan": "raise", "note": ""}\n')
    assert (move.action, move.how) == (None, "illegal")


def test_fixed_texts_are_forced():
    engine, _ = played("direct", LINE)
    (call,) = engine.calls
    forced = "".join(call.text[span.start : span.end] for span in call.spans if span.kind == "forced")
    assert '"plan": "' in forced
    assert '", "note": "' in forced


def test_probabilities_of_strings_are_not_listed():
    game = make_game(GAME)
    with pytest.raises(CannotCompute, match="open text"):
        player_of(Ventriloquist([LINE]), "direct").policy(game.start(Key(0)).view(0))


def test_an_agent_outside_is_told_that_the_text_is_open():
    told = choices_data(make_game(GAME).start(Key(0)).view(0).choices)
    assert told["kind"] == "text"
    assert "by this schema" in told["summary"]


def test_a_babbler_says_what_the_schema_admits():
    game = make_game(GAME.replace("[state]", "[]"))
    view = game.start(Key(0)).view(0)
    said = make_player("babbler(NashApprox)", game).policy(view)
    assert len(said) > 5
    assert all(text in view.choices for text in said)

"""Models asked as public arenas ask: prompts without a list, one retry, and the loss of the game."""

import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.language.prompting.catalogue import make_style
from stratagem.measure.audit.plan import ARENA_GAMES
from stratagem.players.catalogue import make_player

LEDUC = make_game("leduc")


def test_prompt_tells_the_position_and_lists_no_moves():
    state = LEDUC.start(Key(3))
    view = state.view(0)
    *_, asked = make_style("arena").messages(view)
    assert view.rules in asked.content
    assert view.situation in asked.content
    assert view.choices.summary() not in asked.content
    assert asked.content.endswith("Write, as the last line, Final Answer: and your move.")
    (action, *_) = view.choices
    assert view.choices.parse(f"I think so.\nFinal Answer: {action}").action == action


def test_model_keeps_its_options_and_gets_the_style_of_arenas():
    player = make_player("arena(tiny(temperature=0.5, mode=direct, style=reasoned))", LEDUC)
    assert player.name == "arena(tiny(mode=free, style=arena, temperature=0.5))"
    again = make_player(player.name, LEDUC)
    assert again.name == player.name
    assert not player.traits.exact
    (prompt,) = player.prompts_in([LEDUC.start(Key(0)).view(0)])
    assert "Final Answer:" in prompt[-1][1]


@pytest.mark.parametrize("text", ["kuhn", "ipd(rounds=3)", "auction", "leduc(retries=0)"])
def test_games_with_another_consequence_are_refused(text):
    with pytest.raises(BadParameter, match=r"^An illegal reply does not lose .* after one retry, as arenas"):
        make_player("arena(tiny)", make_game(text))


def test_players_without_words_are_refused():
    with pytest.raises(BadParameter, match=r"^arena asks a language model in other words, and random is none"):
        make_player("arena(random)", LEDUC)


def test_second_question_tells_what_was_refused():
    found = sg.play("tic-tac-toe", ["arena(tiny(max_new_tokens=4))", "first-legal"], episodes=1, seed=2)
    (episode,) = found.episodes
    first, second = (row for row in episode.decisions if row.slot == 0)
    asked, again = (row.calls[0].prompt.messages[-1][1] for row in (first, second))
    (*_, last) = first.said.strip().splitlines() or ["(nothing)"]
    assert (first.attempt, second.attempt) == (0, 1)
    assert again == f"{asked}\n\nYou replied: {last}\nThat is no legal move here. Choose another one."


def test_other_styles_ask_the_same_again():
    asked = make_style("plain").messages(LEDUC.start(Key(3)).view(0))
    assert make_style("plain").ask_again(asked, "no") == asked


def test_model_that_names_no_move_loses_each_game():
    """`tiny` without training says no move in free text."""
    found = sg.evaluate("tic-tac-toe", "arena(tiny(max_new_tokens=4))", opponents=["first-legal"], episodes=4)
    (result,) = found.results
    assert result.rows[0].metrics["payoff"].mean == -1.0


def test_audit_as_arenas_ask_has_games_that_are_lost():
    planned = sg.plan_audit("tiny", arena=True, decisions=4000)
    assert planned.plan.games == ARENA_GAMES
    assert planned.plan.to_json()["player"] == "arena(tiny)"
    assert {row["probe"] for row in planned.rows() if row["game"] == "kuhn-spiel" and not row["why_not"]} >= {"replies"}
    with pytest.raises(BadParameter, match="as arenas have it"):
        sg.plan_audit("tiny", arena=True, games="kuhn")
    chosen = sg.plan_audit(make_player("tiny", LEDUC), arena=True, games=["leduc"], against="base", decisions=4000)
    assert chosen.plan.agent.name == "arena(tiny(mode=free, style=arena))"
    assert chosen.plan.baseline.agent == "arena(base)"

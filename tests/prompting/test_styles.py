"""Every style on every game it serves, and ShapeLLM's three prompts word for word where words matter."""

from itertools import islice

import pytest

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games import Key, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.matrix import MatrixGame
from stratagem.games.random_play import acting_view, random_views
from stratagem.language.prompting.catalogue import LATER_VERSIONS, PAPERS, another_style, make_style, style_names

PLAYABLE = [make_game(name) for name in GAMES if name != "matrix"]


def seen(game, turns=12, seed=3):
    return list(islice(random_views(game.start(Key(seed).at("chance")), Key(seed).at("turn"), turns), turns))


def serves(style, game):
    if style.startswith("diplomacy"):
        return isinstance(game, Diplomacy)
    return isinstance(game, MatrixGame) or not style.startswith("shapellm")


WITHOUT_RULES = {"bare", "diplomacy-surroundings", "diplomacy-paper", *(name for name in PAPERS if "shapellm" in name)}


def test_bare_tells_the_situation_and_nothing_else():
    for game in PLAYABLE:
        for view in seen(game, turns=4):
            (message,) = make_style("bare").messages(view)
            assert message == ("user", view.situation)


@pytest.mark.parametrize("style", sorted({*style_names()} - WITHOUT_RULES))
def test_prompts_tell_what_the_seat_sees_and_begin_alike(style):
    words = make_style(style)
    for game in PLAYABLE:
        if not serves(style, game):
            continue
        for seat in range(game.spec.seats):
            prompts = ["\n".join(m.content for m in words.messages(v)) for v in seen(game) if v.seat == seat]
            assert all(prompt.strip() for prompt in prompts)
            rules = game.rules(seat) if not style.startswith("shapellm") else game.story
            for prompt in prompts:
                assert rules in prompt
                assert prompt[: prompt.index(rules) + len(rules)] == prompts[0][: prompts[0].index(rules) + len(rules)]


@pytest.mark.parametrize("style", ["plain", "reasoned", "gtbench", "gtbench-reasoned"])
def test_the_situation_follows_the_rules_and_the_choices_come_last(style):
    for game in PLAYABLE:
        for view in seen(game, turns=4):
            text = "\n".join(message.content for message in make_style(style).messages(view))
            assert text.index(view.rules) < text.index(view.situation) < text.rindex(view.choices.first.split("\n")[0])


def test_many_choices_are_cut_short_in_plain_and_whole_in_gtbench():
    (view,) = seen(make_game("negotiation-v2(most=9)"), turns=1)
    assert "more" in make_style("plain").messages(view)[-1].content
    assert make_style("gtbench").messages(view)[-1].content.count("<[") == view.choices.count


def test_mistakes_are_one_sentence():
    with pytest.raises(UnknownName, match="did you mean plain"):
        make_style("plan")
    with pytest.raises(BadParameter, match="repeated matrix games, not kuhn"):
        make_style("shapellm-base").messages(seen(make_game("kuhn"), turns=1)[0])


@pytest.mark.parametrize(("style", "told"), [("plain", "situation"), ("brief", "state_key")])
def test_a_prompt_without_what_may_be_played_ends_with_what_stands(style, told):
    view = next(random_views(make_game("nim").start(Key(0)), Key(0).at("turn"), 1))
    listed, short = (make_style(text).messages(view)[-1].content for text in (style, f"{style}(listed=False)"))
    assert "You may play" in listed
    assert "You may play" not in short
    assert short.endswith(getattr(view, told))
    with pytest.raises(BadParameter, match="True or False"):
        make_style(f"{style}(listed=3)")


def test_prompts_of_diplomacy_tell_more_or_less_of_the_orders():
    game = make_game("diplomacy")
    view = next(view for view in random_views(game.start(Key(0)), Key(0).at("turn"), 7) if view.facts.power == "FRANCE")
    told = {name: make_style(f"diplomacy-{name}").messages(view)[-1].content for name in
            ("verbose", "compact", "minimal", "windows", "counts")}  # fmt: skip
    board = view.rules + "\n\n" + view.situation
    assert all(text.startswith(board) for text in told.values())
    for slot in view.choices.slots:
        assert all(option in told["verbose"] for option in slot.options)
        assert f"{slot.name}: {len(slot.options)} orders" in told["counts"]
        assert f"\n{slot.name} -> " in told["windows"]
    assert "A PAR: - BRE | - BUR" in told["compact"]
    assert "- PIC" not in told["minimal"].removeprefix(board)
    lengths = [len(told[name]) for name in ("verbose", "compact", "windows", "minimal")]
    assert lengths == sorted(lengths, reverse=True)


def test_prompts_of_diplomacy_know_every_phase():
    game = make_game("diplomacy(until=1903, judged=False)")
    for name in ("verbose", "compact", "minimal", "windows", "counts"):
        for view in seen(game, turns=120):
            text = make_style(f"diplomacy-{name}").messages(view)[-1].content
            assert text.endswith("between <orders> and </orders>.")
    with pytest.raises(BadParameter, match="not of kuhn"):
        make_style("diplomacy-minimal").messages(acting_view(make_game("kuhn"), 0))
    with pytest.raises(BadParameter, match="diplomacy-surroundings tells of diplomacy, not of kuhn"):
        make_style("diplomacy-surroundings").messages(acting_view(make_game("kuhn"), 0))


FIRST_GOAL = "You play a game and want to be paid as much as you can over the whole of it."
SECOND_GOAL = "Your goal is to maximise your total payoff over the game."


@pytest.mark.parametrize("style", ["plain", "reasoned", "brief", "plain(listed=False)"])
def test_style_without_version_keeps_the_goal_of_stored_results(style):
    view = seen(make_game("kuhn"), turns=1)[0]
    later = f"{style[:-1]}, version=2)" if style.endswith(")") else f"{style}(version=2)"
    goal, *rest = make_style(style).messages(view)
    newer, *others = make_style(later).messages(view)
    assert goal == ("system", FIRST_GOAL)
    assert newer == ("system", SECOND_GOAL)
    assert rest == others, "a version changes the system message alone"


def test_later_versions_are_those_of_the_styles_with_a_goal():
    view = seen(make_game("kuhn"), turns=1)[0]
    with_goal = {name for name in ("plain", "reasoned", "brief", "bare", "gtbench", "arena") if FIRST_GOAL in str(
        make_style(name).messages(view))}  # fmt: skip
    assert {text.partition("(")[0] for text in LATER_VERSIONS} == with_goal == {"plain", "reasoned", "brief"}


@pytest.mark.parametrize("version", [0, 3, True, "'2'"])
def test_unknown_version_of_a_style_is_refused(version):
    with pytest.raises(BadParameter, match="`version` as 1 or 2, not"):
        make_style(f"plain(version={version})")


@pytest.mark.parametrize(
    ("style", "other"),
    [
        ("plain", "brief"),
        ("reasoned", "brief"),
        ("gtbench", "brief"),
        ("brief", "plain"),
        ("plain(version=2)", "brief(version=2)"),
        ("brief(version=2)", "plain(version=2)"),
    ],
)
def test_another_style_has_other_prompts_and_the_same_goal(style, other):
    assert another_style(style) == other

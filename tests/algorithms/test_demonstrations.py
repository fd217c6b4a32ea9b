"""The demonstrations of SEPO's SFT: how many of whom, how they are split, and what form they have."""

from collections import Counter
from itertools import pairwise
from statistics import median

import pytest

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.reading import find_literals
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations import scripted as module
from stratagem.learn.demonstrations.files import PUBLISHED, SETS, DemonstrationPlan
from stratagem.learn.demonstrations.scripted import (
    demonstrations,
    draw_decisions,
    make_demonstration,
    num_training,
    planned_episodes,
)
from stratagem.players.catalogue import make_player
from stratagem.players.pools import demonstrators

GAMES = {"ipd": 8_000, "auction": 8_000, "negotiation-v1": 15_988, "negotiation-v2": 4_000, "kuhn": 8_000}
REASONED = make_style("reasoned")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, scale), id=f"{name}-{scale:g}", marks=[pytest.mark.long] if scale == 1.0 else [])
        for name in GAMES
        for scale in (0.05, 1.0)
    ],
)
def examples(request):
    """Return the decisions and the examples made of them."""
    name, scale = request.param
    drawn = list(
        draw_decisions(
            make_game(name), round(GAMES[name] * scale), Key(42), DemonstrationPlan(scale=scale).episodes(name)
        )
    )
    return [(one.decision, make_demonstration(one, REASONED)) for one in drawn]


def test_the_split_is_four_to_one_and_by_episode(examples):
    held = [example for _, example in examples if example.held_out]
    taught = [example for _, example in examples if not example.held_out]
    assert len(taught) == num_training(len(examples)) == round(0.8 * len(examples))
    assert not {example.episode for example in held} & {example.episode for example in taught}


def test_choices_read_every_reply_as_its_action_and_its_reasoning_as_none(examples):
    for shown, example in examples:
        thought, last = example.reply.split("\n")
        assert last == f"Action: {example.action}"
        assert shown.view.choices.parse(example.reply).action == example.action == shown.action
        assert not find_literals(thought, shown.view.choices)
        assert example.info_key == shown.view.info_key
        assert example.messages == tuple(REASONED.messages(shown.view))


def test_replies_are_as_long_as_the_paper_has_them(examples):
    for lengths in ([len(one.reply) for _, one in examples], [len(one.reply.split("\n")[0]) for _, one in examples]):
        assert 80 <= median(lengths) <= 110
        assert max(lengths) <= 220


def test_demonstrators_play_by_their_rules(examples):
    game = examples[0][0].view.game
    players = {name: make_player(name, game) for name in demonstrators(game)}
    for shown, example in examples:
        player = players[shown.episode.demonstrator]
        assert player.policy(shown.view)[shown.action] > 0
        assert example.demonstrator == f"{player.name}@{player.traits.version}"


def test_the_published_sets_have_the_published_sizes():
    plan = DemonstrationPlan()
    total = {name: sum(plan.counts(name).values()) for name in plan.sets}
    taught = {name: sum(map(num_training, plan.counts(name).values())) for name in plan.sets}
    assert total == {"multi": 31_988, "negotiation-v2": 4_000, "kuhn": 8_000}
    assert taught == {"multi": 25_590, "negotiation-v2": 3_200, "kuhn": 6_400}
    assert {game: count for counts in PUBLISHED.values() for game, count in counts.items()} == GAMES
    assert SETS["negotiation-v1"] == {"negotiation-v1": 8_000}
    assert [plan.episodes(game) for game in GAMES] == [200, 267, 400, 200, 200]
    assert plan.seed == 42


@pytest.mark.parametrize("name", GAMES)
def test_demonstrators_are_drawn_by_weight(name):
    game = make_game(name)
    drawn = Counter(bout.demonstrator for bout in planned_episodes(game, 400, Key(42)))
    for who, weight in demonstrators(game).items():
        assert drawn[who] / drawn.total() == pytest.approx(weight, abs=0.04)


@pytest.mark.parametrize("name", GAMES)
def test_seats_rotate_and_every_fifth_episode_against_each_opponent_is_held_out(name):
    made = list(planned_episodes(make_game(name), 20, Key(42)))
    opponents = {bout.setup.match.names[1] for bout in made}
    assert len(opponents) == (4 if name == "kuhn" else 5)
    for opponent in opponents:
        own = [bout for bout in made if bout.setup.match.names[1] == opponent]
        assert Counter(bout.setup.slots for bout in own) == {(0, 1): 10, (1, 0): 10}
        assert Counter(bout.setup.slots for bout in own if bout.held_out) == {(0, 1): 2, (1, 0): 2}
    assert len({bout.setup.key for bout in made}) == len({bout.setup.id for bout in made}) == len(made)


def test_a_decision_comes_again_only_when_all_have_been_drawn():
    game = make_game("negotiation-v1")
    assert not any(example.repeat for example in demonstrations(game, 20, Key(1), episodes=1))
    made = list(demonstrations(game, 50, Key(1), episodes=1))
    assert Counter(example.repeat for example in made if not example.held_out) == {0: 16, 1: 16, 2: 8}
    assert Counter(example.repeat for example in made if example.held_out) == {0: 4, 1: 4, 2: 2}
    assert len({(example.episode, example.messages) for example in made}) == 20
    assert len({(example.episode, example.messages, example.reply) for example in made}) > 30


def test_a_key_is_one_set_in_one_order():
    game = make_game("auction")
    first, again, other = (list(demonstrations(game, 60, Key(seed), episodes=3)) for seed in (1, 1, 2))
    assert first == again
    assert {example.reply for example in first} != {example.reply for example in other}
    assert any(example.held_out for example in first[:24])
    assert sum(one.episode == two.episode for one, two in pairwise(first)) < 20


def test_nothing_is_played_before_the_first_example_is_asked_for(monkeypatch):
    played = []

    def counting(setups):
        played.extend(setups)
        return play(setups)

    play = module.play
    monkeypatch.setattr(module, "play", counting)
    made = demonstrations(make_game("kuhn"), 5, Key(1), episodes=2)
    assert played == []
    next(made)
    assert len(played) == 2 * 4


@pytest.mark.parametrize(
    ("style", "end"),
    [
        ("plain", "DEFECT"),
        ("reasoned", "\nAction: DEFECT"),
        ("gtbench", "<DEFECT>"),
        ("gtbench-reasoned", "\n<DEFECT>"),
    ],
)
def test_a_reply_has_the_form_that_the_style_asks_for(style, end):
    made = list(demonstrations(make_game("ipd"), 40, Key(3), style=style, episodes=1))
    defecting = [example for example in made if example.action == "DEFECT"]
    assert defecting
    for example in defecting:
        before, found, after = example.reply.rpartition(end)
        assert (found, after, bool(before)) == (end, "", "reasoned" in style)


def test_an_example_is_a_chat_with_what_is_known_of_it():
    class Terse(Style):
        def messages(self, view, past=None):
            return [ChatMessage("user", view.situation)]

    example = next(demonstrations(make_game("kuhn"), 1, Key(1), style=Terse(), episodes=1))
    row = example.row()
    assert row.pop("messages") == [
        {"role": "user", "content": example.messages[0].content},
        {"role": "assistant", "content": example.action},
    ]
    assert row == {
        "game": "kuhn",
        "info_key": example.info_key,
        "action": example.action,
        "demonstrator": example.demonstrator,
        "opponent": example.opponent,
        "episode": f"{example.opponent.removesuffix('@1')}/0",
    }


@pytest.mark.parametrize(
    ("name", "count", "options", "error", "said"),
    [
        ("kuhn", 0, {}, BadParameter, "`count` of at least 1"),
        ("kuhn", 5, {"episodes": 0}, BadParameter, "`episodes` of at least 1"),
        ("kuhn", 5, {"style": "reasonde"}, UnknownName, "did you mean reasoned"),
        ("kuhn", 5, {"style": "shapellm-state"}, BadParameter, "for repeated matrix games, not kuhn"),
    ],
)
def test_mistakes_are_told_at_once(name, count, options, error, said):
    with pytest.raises(error, match=said):
        demonstrations(make_game(name), count, Key(1), **options)

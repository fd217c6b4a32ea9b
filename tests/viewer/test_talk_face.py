"""Face of a game with talk: the board of the game within it, in every frame."""

from dataclasses import replace

import pytest
from read_boards import boards_of

from stratagem.games import Key, make_game
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play
from stratagem.show.viewer.faces.frames import draw_episode
from stratagem.show.viewer.replays import replay_episode

TWO = "diplomacy(until=1901, only=[FRANCE, GERMANY], judged=False)"


def shown(text, player):
    game = make_game(text)
    setup = Setup(id="e", match=Match(game, [make_player(player, game)] * 2), slots=(0, 1), key=Key(3))
    (episode,) = play([setup])
    return draw_episode(list(steps(episode))), episode


@pytest.mark.parametrize(
    ("text", "player", "face"),
    [
        (f"talk({TWO}, rounds=2)", "dumbbot-press", "diplomacy"),
        ("talk(kuhn(hands=2))", "random", "cards"),
        ("talk(ipd(rounds=2), order='in turn')", "random", "matrix"),
        ("talk(negotiation-v2(rounds=2))", "random", "items"),
        ("talk(connect-four, words=[hello], before=round)", "random", "grid"),
        ("talk(spiel:matrix_pd, words=[hello])", "random", "text"),
    ],
)
def test_the_board_is_that_of_the_game_within(text, player, face):
    data, episode = shown(text, player)
    assert (data["face"], data["trouble"]) == (face, "")
    assert len(data["frames"]) == len({row.turn for row in episode.decisions}) + 1


def test_the_map_stays_while_the_powers_talk():
    data, _ = shown(f"talk({TWO})", "dumbbot-press")
    frames = data["frames"]
    assert frames[0]["position"] == frames[1]["position"]
    assert not frames[1]["orders"]
    assert len(frames[2]["orders"]) == 6
    assert frames[2]["result"]["phase"] == "F1901M"


def test_turn_of_messages_shows_no_move_on_the_board():
    data, episode = shown("talk(ipd(rounds=2))", "random")
    assert [frame.get("talked", False) for frame in data["frames"]] == [False, True, False, True, False]
    assert [len(board["moves"]) for board in boards_of(replay_episode(episode))[0]] == [0, 0, 1, 1, 2]


def test_the_conversation_links_a_promise_with_the_turn_that_decided_it():
    """The cooperator keeps its word; the liar breaks its own alone in each round."""
    game = make_game("talk(ipd(rounds=2))")
    pair = [make_player(player, game) for player in ("honest(AlwaysCooperate)", "liar(AlwaysDefect)")]
    (episode,) = play([Setup(id="e", match=Match(game, pair), slots=(0, 1), key=Key(3))])
    said = replay_episode(episode)["conversation"]
    assert [(one["position"], one["seat"], one["kind"], one["truth"]) for one in said] == [
        (1, 0, "move", ""),
        (1, 1, "move", ""),
        (3, 0, "move", ""),
        (3, 1, "move", ""),
    ]
    assert [[(b["outcome"], b["breach"], b["position"], b["action"]) for b in one["bound"]] for one in said[:2]] == [
        [("kept", "", 2, "COOPERATE")],
        [("broken", "unilateral", 2, "DEFECT")],
    ]


def test_the_conversation_tells_statements_readers_and_what_is_open():
    game = make_game("talk(kuhn(hands=1), before=round)")
    pair = [make_player(player, game) for player in ("liar(NashApprox)", "babbler(random)")]
    setup = Setup(id="e", match=Match(game, pair), slots=(0, 1), key=Key(3), turns=1)
    (episode,) = play([setup])
    lie, babble = replay_episode(episode)["conversation"]
    assert (lie["truth"], lie["to"], lie["bound"]) == ("false", None, [])
    assert [bound["outcome"] for bound in babble["bound"]] == (["open"] if babble["kind"] == "move" else [])
    assert replay_episode(replace(episode, game="kuhn(hands=1)"))["conversation"] == []

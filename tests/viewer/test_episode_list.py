"""The list of episodes by columns is the list that a plain loop over the episodes gives, for any record and search."""

import random
from collections import Counter

import pytest

from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer.episode_index import episodes_of, episodes_of_shard
from stratagem.show.viewer.listing import Filter, find_row, id_of, list_episodes, neighbours

PLAYERS = ("random@1", "kuhn/NashApprox@1", "Straße@2", "absent")
GAMES = ("kuhn", "ipd(rounds=4)")
PURPOSES = ("eval", "warm_up", "train")


def write_record(folder, seed):
    """Write three shards of episodes with 1 to 4 seats, some of them branches of others, one shard without any."""
    draw, ids = random.Random(seed), list[str]()
    for shard in range(4):
        episodes = []
        for number in range(0 if shard == 2 else draw.randrange(1, 30)):
            name = draw.choice(("deal", "DEAL", "ΣΊΣΥΦΟΣ") if seed % 2 else ("deal", "Other")) + f"/{shard}.{number}"
            episodes.append(an_episode(draw, name, draw.choice(ids) if ids and draw.random() < 0.4 else ""))
            ids.append(name)
        write_shard(folder, shard, episodes)
    return list(read_episodes(folder))


def an_episode(draw, name, parent):
    seats = draw.randrange(1, 5)
    slots = list(range(seats))
    draw.shuffle(slots)
    return Episode(
        id=name, game=draw.choice(GAMES), game_version=1, slots=tuple(slots), key=0, chance=0, parent=parent,
        players=tuple(draw.choice(PLAYERS) for _ in range(seats)), purpose=draw.choice(PURPOSES),
        finished=draw.random() < 0.9, payoffs=[float(draw.randrange(-1, 2)) for _ in range(seats)],
        num_decisions=[2] * seats, num_illegal=[draw.randrange(2) * draw.randrange(2) for _ in range(seats)],
    )  # fmt: skip


def outcome_of(episode, player):
    """Compare the best seat of a player, by default the first of the match, with the best of the others."""
    if not episode.finished:
        return "unfinished"
    mine = [held == player if player else slot == 0 for held, slot in zip(episode.players, episode.slots, strict=True)]
    own = [pay for pay, is_own in zip(episode.payoffs, mine, strict=True) if is_own]
    others = [pay for pay, is_own in zip(episode.payoffs, mine, strict=True) if not is_own]
    if not own or not others or max(own) == max(others):
        return "drawn"
    return "won" if max(own) > max(others) else "lost"


def passes(episode, wanted):
    text, names = wanted.text.casefold(), (episode.id, *episode.players)
    return all(
        (
            wanted.game in ("", episode.game),
            wanted.purpose in ("", episode.purpose),
            wanted.player in ("", *episode.players),
            not wanted.opponent or episode.players.count(wanted.opponent) > (wanted.opponent == wanted.player),
            not wanted.illegal or any(episode.num_illegal),
            wanted.outcome in ("", outcome_of(episode, wanted.player)),
            any(text in name.casefold() for name in names),
        )
    )


def draw_filter(draw):
    def some(values, rate=0.4):
        return draw.choice(values) if draw.random() < rate else ""

    return Filter(
        player=some((*PLAYERS, "nobody")), game=some((*GAMES, "chess"), 0.2), purpose=some(PURPOSES, 0.2),
        outcome=some(("won", "lost", "drawn", "unfinished"), 0.3), illegal=draw.random() < 0.2,
        opponent=some(PLAYERS, 0.3), text=some(("eal/1", "STRASSE", "ßE@", "nash", "σίσυφος", "7"), 0.3),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_list_equals_a_loop_over_the_episodes(tmp_path, seed):
    episodes, draw = write_record(tmp_path, seed), random.Random(100 + seed)
    parents = {episode.parent for episode in episodes}
    begun = {episode.id for episode in episodes if episode.purpose == "warm_up" and episode.id in parents}
    assert begun
    for _ in range(120):  # of 600 filters, 24 have any two kinds of wishes that one in five has
        wanted, newest = draw_filter(draw), draw.random() < 0.5
        folded = set() if wanted.purpose or wanted.text else begun
        found = [one for one in episodes if one.id not in folded and passes(one, wanted)]
        offset, limit = draw.randrange(12), draw.randrange(1, 20)
        page = (found[::-1] if newest else found)[offset : offset + limit]
        told = list_episodes(tmp_path, wanted, offset=offset, limit=limit, newest=newest)
        assert [row["id"] for row in told["episodes"]] == [one.id for one in page], wanted
        assert [row["outcome"] for row in told["episodes"]] == [outcome_of(one, wanted.player) for one in page]
        for row, one in zip(told["episodes"], page, strict=True):
            fields = ("game", "players", "slots", "purpose", "parent", "finished")
            assert [row[name] for name in fields] == [getattr(one, name) for name in fields]
            assert row["payoffs"] == tuple(one.payoffs)
            assert row["num_illegal"] == tuple(one.num_illegal)
        assert (told["total"], told["folded"], told["found"]) == (len(episodes) - len(folded), len(folded), len(found))
        sat = [one for one in episodes if wanted.player in ("", *one.players)]
        assert told["outcomes"] == Counter(outcome_of(one, wanted.player) for one in sat)
        assert told["games"] == Counter(one.game for one in episodes)
        assert told["players"] == Counter(name for one in episodes for name in one.players)
        assert list(told["players"]) == sorted(told["players"])
        assert told["purposes"] == Counter(one.purpose for one in episodes)
        assert told["illegal"] == sum(any(one.num_illegal) for one in episodes)


@pytest.mark.parametrize("seed", range(4))
def test_index_finds_episodes_and_their_players(tmp_path, seed):
    episodes = write_record(tmp_path, seed)
    index = episodes_of(tmp_path)
    last = {one.players: place for place, one in enumerate(episodes)}
    assert index.lineups() == sorted(last, key=last.get)
    assert index.games_of_players() == list(dict.fromkeys((one.game, name) for one in episodes for name in one.players))
    assert list(index.games.names) == list(dict.fromkeys(one.game for one in episodes))
    names = [one.id for one in episodes]
    assert [row.shard for row in index.rows()] == [
        n for n in range(4) for _ in range(len(episodes_of_shard(tmp_path, n)))
    ]
    for place, name in enumerate(names):
        row = find_row(tmp_path, name)
        assert row.id == name == id_of(tmp_path, str(place + 1))
        around = [None, *names, None]
        assert neighbours(tmp_path, row) == (around[place], around[place + 2])


@pytest.mark.parametrize(
    ("seatings", "first"),
    [
        ([("a", "b"), ("a", "b")], "a"),
        ([("a", "b"), ("b", "a")], ""),
        ([("a", "b"), ("c", "b")], ""),
        ([("a", "a")], ""),
    ],
)
def test_first_player_sits_nowhere_else(tmp_path, seatings, first):
    episodes = [
        Episode(id=str(n), game="kuhn", game_version=1, players=players, slots=(0, 1), key=0, chance=0, payoffs=[0, 0],
                num_decisions=[1, 1], num_illegal=[0, 0])
        for n, players in enumerate(seatings)
    ]  # fmt: skip
    write_shard(tmp_path, 0, episodes)
    assert list_episodes(tmp_path, Filter(), offset=0, limit=1, newest=False)["first"] == first

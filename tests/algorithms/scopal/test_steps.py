"""Rewards of steps, against a plain count over the episodes, and what cannot be estimated."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stratagem.algorithms.scopal.decision_table import TextColumn, read_decisions
from stratagem.algorithms.scopal.samples import ReplyFormat, SampleSettings, make_samples
from stratagem.algorithms.scopal.steps import make_steps, read_steps, write_steps
from stratagem.base.errors import BadRecord
from stratagem.games import Key, make_game
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.advantages.catalogue import read_advantage
from stratagem.measure.metrics.win_rate import share_of_win
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard
from stratagem.playing.workers.shards import play_setups

RATE = read_advantage("step_win_rate").value


def recorded(folder, game="tic-tac-toe", players=("random", "random"), episodes=60, shards=2):
    """Games on disk, half of them in each shard; the players sit in both orders."""
    made = make_game(game)
    match = Match(made, [make_player(name, made) for name in players])
    setups = list(rotate_seats(match, episodes, Key(3), name=game))
    for number in range(shards):
        write_shard(folder, number, play_setups(setups[number::shards]))
    return folder


def outcome(episode, seat):
    """One for a win, a half for a tie, as the metric counts it for slot 0."""
    slots = tuple(0 if other == seat else 1 for other in range(len(episode.slots)))
    return share_of_win(replace(episode, slots=slots))


def counted(folder, whose=lambda episode, row: True):
    """Count and outcomes of each (state, action), one decision after the other."""
    pairs = defaultdict(list)
    for episode in read_episodes(folder):
        for row in episode.decisions:
            if whose(episode, row):
                pairs[row.state_key, row.action].append(outcome(episode, row.seat))
    return {pair: (len(ends), sum(ends)) for pair, ends in pairs.items()}


def found(steps):
    return {
        (row["state_key"], row["action"]): (row["count"], pytest.approx(row["outcome"]))
        for row in steps.rows.to_pylist()
    }


def estimated(folder, estimator=RATE, players=()):
    return make_steps(read_decisions([folder], players), [folder], estimator)


@pytest.mark.parametrize("game", ["tic-tac-toe", "nim", "kuhn(hands=1)", "liars-dice", "prisoners-dilemma"])
def test_steps_have_the_counts_and_rates_of_a_plain_count(tmp_path, game):
    steps = estimated(recorded(tmp_path, game))
    assert found(steps) == counted(tmp_path)
    for row in steps.rows.to_pylist():
        assert row["reward"] == pytest.approx(row["outcome"] / row["count"])
        assert row["desirable"] == (row["reward"] > 0.5)
        assert (row["reply"], row["prompt"]) == (row["action"], None)


def test_read_decisions_takes_the_player_of_slot_0_by_default(tmp_path):
    folder = recorded(tmp_path, "nim", ("random", "mcts:5"))
    assert found(estimated(folder)) == counted(folder, lambda episode, row: row.slot == 0)


def test_read_decisions_takes_a_named_player(tmp_path):
    folder = recorded(tmp_path, "nim", ("random", "mcts:5"))
    (name,) = {name for episode in read_episodes(folder) for name in episode.players if name.startswith("mcts")}
    assert found(estimated(folder, players=[name])) == counted(folder, lambda episode, row: row.slot == 1)
    with pytest.raises(BadRecord, match=rf"no decisions of nobody in .+: its players are {name}, random@1\.$"):
        estimated(folder, players=["nobody"])


def test_roles_join_seats_with_the_same_rules(tmp_path):
    """In matching pennies both seats call a state alike, and what wins for the one loses for the other."""
    steps = estimated(recorded(tmp_path / "imp", "imp(rounds=3)"))
    assert set(steps.rows["role"].to_pylist()) == {0, 1}
    steps = estimated(recorded(tmp_path / "pg", "public-goods(seats=2, rounds=2)"))
    assert set(steps.rows["role"].to_pylist()) == {0}


def test_equal_states_of_two_games_are_two(tmp_path):
    """Both begin at `start`, with the same actions and rules for all seats."""
    names = ["ipd(rounds=1)", "ipd(rounds=2)"]
    folders = [recorded(tmp_path / str(number), name, shards=1) for number, name in enumerate(names)]
    steps = make_steps(read_decisions(folders), folders, RATE)
    rows = [row for row in steps.rows.to_pylist() if row["state_key"] == "start"]
    for name, folder in zip(names, folders, strict=True):
        own = {row["action"]: row["count"] for row in rows if row["game"].startswith(name)}
        assert own == {action: count for (state, action), (count, _) in counted(folder).items() if state == "start"}


def test_equal_replies_to_two_prompts_of_a_state_are_two_rows_with_one_reward(tmp_path):
    """A prompt may tell more than the state: its examples are its own, and the reward is the state's."""
    table = read_decisions([recorded(tmp_path, "nim")])
    prompts = TextColumn(np.arange(len(table)) % 2, pa.array(["one", "other"]))
    steps = make_steps(replace(table, prompt=prompts), [tmp_path], RATE)
    rows, rewards = steps.rows.to_pylist(), defaultdict(set)
    for row in rows:
        rewards[row["state_key"], row["action"]].add(row["reward"])
    assert {len(own) for own in rewards.values()} == {1}
    told = zip(table.state.at(np.arange(len(table))).to_pylist(), table.reply.codes, prompts.codes, strict=True)
    assert len(rows) == len(set(told)) > len(rewards)
    assert {row["prompt"] for row in rows} == {"one", "other"}


def test_a_tie_is_half_an_outcome_and_no_won_game(tmp_path):
    folder = recorded(tmp_path)
    ends = defaultdict(list)
    for episode in read_episodes(folder):
        for row in episode.decisions:
            ends[row.state_key, row.action].append(outcome(episode, row.seat))
    assert any(0.5 in own for own in ends.values())
    for row in estimated(folder).rows.to_pylist():
        assert row["won"] == ends[row["state_key"], row["action"]].count(1.0)


def test_spag_reward_of_a_step_has_the_sign_of_its_games(tmp_path):
    """Of moves after which all games were won, or all were lost (Cheng et al. 2024)."""
    rows = estimated(recorded(tmp_path)).rows.to_pylist()
    won = [row["spag"] for row in rows if row["outcome"] == row["count"]]
    lost = [row["spag"] for row in rows if row["outcome"] == 0.0]
    assert min(len(won), len(lost)) > 20
    assert min(won) > 0.0 > max(lost)


def test_step_names_the_position_of_its_first_occurrence(tmp_path):
    folder = recorded(tmp_path)
    rows = {
        (episode.id, row.turn, row.seat, row.attempt): row
        for episode in read_episodes(folder)
        for row in episode.decisions
    }
    for step in estimated(folder).rows.to_pylist():
        row = rows[step["episode"], step["turn"], step["seat"], step["attempt"]]
        assert (row.state_key, row.action) == (step["state_key"], step["action"])


def illegal(folder, game="nim"):
    """Games in which one reply of the first player, in the first situation, was nonsense and an action was put in."""
    episodes = list(read_episodes(recorded(folder / "legal", game)))
    row = episodes[0].decisions[0]
    episodes[0].decisions[0] = replace(row, how="recovered", said="I take the lot")
    episodes[1].decisions[0] = replace(episodes[1].decisions[0], how="illegal", said="pass", action=None)
    write_shard(folder, 0, episodes)
    return folder, row


def test_samples_render_every_attempt_of_a_player_without_a_model(tmp_path):
    """A first attempt that was nonsense and the second, which was played, are two rows of one turn."""
    episodes = list(read_episodes(recorded(tmp_path / "legal", "nim", episodes=4, shards=1)))
    first = episodes[0].decisions[0]
    nonsense = replace(first, action=None, how="illegal", said="pass")
    episodes[0].decisions[:1] = [nonsense, replace(first, attempt=1)]
    write_shard(tmp_path / "record", 0, episodes)
    steps, engine = estimated(tmp_path / "record"), TransformersEngine(load("tiny"))
    told = make_samples(
        steps, engine, ReplyFormat(make_style("plain"), "direct"), SampleSettings(), np.random.default_rng(0)
    )
    said = {engine.vocabulary.decode(list(one.tokens[one.loss_positions[0] :])) for one in told.examples}
    assert any("pass" in text for text in said)
    assert any(first.action in text for text in said)


def test_illegal_reply_is_undesirable_and_counts_for_no_action(tmp_path):
    folder, row = illegal(tmp_path)
    steps = {(step["state_key"], step["reply"]): step for step in estimated(folder).rows.to_pylist()}
    for said in ("I take the lot", "pass"):
        bad = steps[row.state_key, said]
        assert (bad["action"], bad["desirable"], bad["reward"], bad["count"]) == (None, False, 0.0, 1)
        assert bad["advantage"] == -1.0
        assert bad["spag"] < 0.0, "as in a lost game, whoever won it"
    legal = counted(folder / "legal")[row.state_key, row.action]
    assert steps[row.state_key, row.action]["count"] == legal[0] - 1
    first = next(read_episodes(folder))
    others = (legal[1] - outcome(first, first.decisions[0].seat)) / (legal[0] - 1)
    assert steps[row.state_key, row.action]["reward"] == pytest.approx(others)


@pytest.mark.parametrize("name", ["discounted", "beta", "step_win_rate(threshold=0.7)"])
def test_steps_take_any_estimator(tmp_path, name):
    plain, other = (estimated(recorded(tmp_path / n), read_advantage(n).value) for n in ("step_win_rate", name))
    assert found(plain) == found(other)
    assert plain.rows["advantage"].to_pylist() != other.rows["advantage"].to_pylist()


def test_steps_table_is_read_as_written(tmp_path):
    steps = estimated(recorded(tmp_path / "record"))
    write_steps(steps, tmp_path / "made" / "steps.parquet")
    again = read_steps(tmp_path / "made" / "steps.parquet")
    assert again.rows.equals(steps.rows.replace_schema_metadata(again.rows.schema.metadata))
    assert again.folders == (tmp_path / "record",)


def test_moved_steps_table_finds_its_record(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    write_steps(estimated(recorded(Path("run/record"))), Path("run/steps/0.parquet"))
    (tmp_path / "there" / "run").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    (folder,) = read_steps(Path("moved/steps/0.parquet")).folders
    assert folder.resolve() == tmp_path / "moved" / "record"


def put(table, name, value):
    """With one value in the whole of a column."""
    place = table.schema.get_field_index(name)
    return table.set_column(place, name, pa.array([value] * len(table)))


def broken(path, table):
    pq.write_table(table, path)
    return path


def test_read_steps_rejects_other_files_in_one_sentence(tmp_path):
    steps = estimated(recorded(tmp_path / "record"))
    whole = tmp_path / "steps.parquet"
    write_steps(steps, whole)
    table = pq.read_table(whole)
    (torn := tmp_path / "torn.parquet").write_bytes(whole.read_bytes()[:200])
    place = table.schema.get_field_index("reward")
    nan = table.set_column(place, "reward", pa.array([float("nan")] * len(table)))
    wrong = {
        torn: "cannot be read",
        tmp_path / "none.parquet": "There is no file",
        broken(tmp_path / "version.parquet", table.replace_schema_metadata({})): "has steps version none",
        broken(tmp_path / "column.parquet", table.drop_columns(["reward"])): "has no column reward",
        broken(tmp_path / "nan.parquet", nan): "has a reward that is no finite number",
        broken(tmp_path / "spag.parquet", put(table, "spag", float("inf"))): "has a spag that is no finite number",
        broken(tmp_path / "text.parquet", put(table, "reward", "much")): "column reward of string that cannot be read",
        broken(tmp_path / "count.parquet", put(table, "count", 0)): "has a count below 1",
        broken(tmp_path / "half.parquet", put(table, "count", 1.5)): "column count of double that cannot be read",
        broken(tmp_path / "kind.parquet", put(table, "desirable", None)): "has rows without a desirable",
        broken(tmp_path / "folder.parquet", put(table, "folder", 7)): "rows of a folder that it does not name",
        broken(tmp_path / "empty.parquet", table.slice(0, 0)): "holds no steps",
    }
    for path, said in wrong.items():
        with pytest.raises(BadRecord, match=said) as caught:
            read_steps(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("credit", ["spag", "step_win_rate"])
def test_step_reward_is_the_mean_over_occurrences(tmp_path, credit):
    """Also with an estimator whose credit is not the same each time, as when it asks how late it was."""
    folder, estimator = recorded(tmp_path / "record"), read_advantage(credit).value
    seen = []

    def spied(decisions):
        seen.append((decisions, estimator(decisions)))
        return seen[-1][1]

    rows = make_steps(read_decisions([folder]), [folder], spied).rows.to_pylist()
    decisions, given = seen[0]
    worth = {}
    for row, pair in enumerate(zip(decisions.state.tolist(), decisions.action.tolist(), strict=True)):
        worth.setdefault(pair, []).append(given.advantage[row])
    assert sorted(row["advantage"] for row in rows) == pytest.approx(sorted(np.mean(each) for each in worth.values()))
    assert any(len(set(each)) > 1 for each in worth.values()) == (credit == "spag")


def test_games_without_a_winner_and_repeated_records_are_rejected(tmp_path):
    with pytest.raises(BadRecord, match="one seat, so there is nobody to win against"):
        estimated(recorded(tmp_path / "quiz", "quiz", ("random",), 4))
    folder = recorded(tmp_path / "run" / "record")
    with pytest.raises(BadRecord, match="named twice"):
        read_decisions([folder, tmp_path / "run" / ".." / "run" / "record"])
    with pytest.raises(BadRecord, match=r"those of the run are in .*run.record"):
        read_decisions([tmp_path / "run"])


def test_record_without_finite_payoffs_is_rejected(tmp_path):
    with pytest.raises(BadRecord, match="no recorded episodes"):
        read_decisions([tmp_path])
    with pytest.raises(BadRecord, match="nobody ever won"):
        estimated(recorded(tmp_path / "ties", "matrix(payoffs=[[(1, 1), (0, 0)], [(0, 0), (2, 2)]], rounds=2)"))
    episodes = list(read_episodes(recorded(tmp_path / "games")))
    episodes[0].payoffs[1] = float("nan")
    write_shard(tmp_path / "nan", 0, episodes)
    with pytest.raises(BadRecord, match="no finite numbers"):
        read_decisions([tmp_path / "nan"])


def test_record_without_a_column_is_rejected(tmp_path):
    folder = recorded(tmp_path, shards=1)
    path = folder / "decisions" / "000000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["state_key"]), path)
    with pytest.raises(BadRecord, match="has no column state_key"):
        read_decisions([folder])


def test_trajectory_is_one_seat_of_one_episode_of_one_record(tmp_path):
    """Two records of equal names, in two shards each."""
    table = read_decisions([recorded(tmp_path / name, "nim", episodes=8) for name in "ab"])
    places = list(zip(*(table.rows[name].to_pylist() for name in ("folder", "episode", "seat")), strict=True))
    pairs = set(zip(places, table.trajectory.tolist(), strict=True))
    assert len(pairs) == len(set(places)) == len(set(table.trajectory.tolist())) == 2 * 8 * 2


def test_decisions_without_a_reply_are_left_out(tmp_path):
    """A player that failed, or was not there, has said nothing that could be judged."""
    episodes = list(read_episodes(recorded(tmp_path / "whole", "nim")))
    for episode, how in zip(episodes, ("error", "absent"), strict=False):
        episode.decisions[0] = replace(episode.decisions[0], how=how, action=None, said="no answer")
    write_shard(tmp_path / "failed", 0, episodes)
    total = sum(len(episode.decisions) for episode in episodes)
    assert sum(estimated(tmp_path / "failed").rows["count"].to_pylist()) == total - 2


def test_unfinished_games_are_left_out(tmp_path):
    episodes = list(read_episodes(recorded(tmp_path / "whole")))
    write_shard(tmp_path / "cut", 0, [replace(e, finished=bool(n)) for n, e in enumerate(episodes)])
    total = sum(len(episode.decisions) for episode in episodes[1:])
    assert sum(estimated(tmp_path / "cut").rows["count"].to_pylist()) == total

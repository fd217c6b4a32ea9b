"""Tables of a policy: look-up, gaps, files, and one sentence for each way in which a file can be wrong."""

import json

import pytest
from transcripts import random_states, view_of

from stratagem.base.errors import BadRecord, CannotCompute, StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.kuhn import KuhnFacts
from stratagem.games.kuhn.players import NashApprox
from stratagem.games.matrix import MatrixFacts
from stratagem.players.catalogue import make_player
from stratagem.players.tabular import TablePlayer

KUHN = make_game("kuhn")
KING = view_of(KUHN, KuhnFacts(0, "K", "", True))
QUEEN = view_of(KUHN, KuhnFacts(0, "Q", "", True))


def table_of(player):
    """The player's policy on the twelve information sets."""
    rows = {}
    for card in "JQK":
        for line in ("", "P", "B", "PB"):
            view = view_of(KUHN, KuhnFacts(len(line) % 2, card, line, len(line) != 1))
            rows[view.info_key] = player.policy(view)
    return rows


def test_a_saved_table_plays_like_what_it_was_taken_from(tmp_path):
    path = tmp_path / "nash.json"
    TablePlayer(table_of(NashApprox())).save(path)
    player = make_player(f"table:{path}", KUHN)
    assert player.name == f"table:{path}"
    assert player.traits.stochastic
    assert list(tmp_path.iterdir()) == [path]
    for state in random_states(KUHN):
        view = state.view(state.to_act[0])
        assert player.policy(view) == pytest.approx(NashApprox().policy(view))


def test_the_history_counts_before_the_state():
    game = make_game("ipd")
    view = view_of(game, MatrixFacts(0, *[("COOPERATE", "DEFECT")] * 2, (0, 0), (0, 1), 2))
    by_state = {"COOPERATE/DEFECT": {"DEFECT": 1}}
    assert TablePlayer(by_state).policy(view) == {"DEFECT": 1.0}
    assert TablePlayer({**by_state, view.info_key: {"COOPERATE": 1}}).policy(view) == {"COOPERATE": 1.0}


def test_a_gap_is_refused_unless_the_table_says_uniform():
    table = {"K:": {"BET": 1.0}}
    with pytest.raises(CannotCompute, match=r"says nothing about 'Q:'.*\"uniform\""):
        TablePlayer(table).policy(QUEEN)
    assert TablePlayer(table, missing="uniform").policy(QUEEN) == {"PASS": 0.5, "BET": 0.5}
    assert TablePlayer(table, missing="uniform").policy(KING) == {"BET": 1.0}


def test_an_action_that_the_rules_do_not_know_is_refused():
    with pytest.raises(BadRecord, match=r"plays 'RAISE' at 'K:'.*PASS, BET"):
        TablePlayer({"K:": {"RAISE": 1.0}}).policy(KING)


def test_rounding_is_evened_out():
    mix = TablePlayer({"K:": {"PASS": 0.333333, "BET": 0.666667 + 1e-7}}).policy(KING)
    assert sum(mix.values()) == pytest.approx(1.0, abs=1e-12)


def test_the_version_tells_tables_apart():
    one, other = (TablePlayer({"K:": {"BET": p, "PASS": 1 - p}}) for p in (1.0, 0.5))
    assert one.traits.version != other.traits.version
    assert one.traits.version == TablePlayer({"K:": {"BET": 1.0, "PASS": 0.0}}).traits.version
    assert not one.traits.stochastic


ROW = {"K:": {"PASS": 0.5, "BET": 0.5}}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not JSON"),
        ("[" * 200_000, "is not JSON"),
        ('{"schema_version": 1, "policy": {"K:": {"PASS": 1' + "0" * 400 + "}}}", "must map actions to probabilities"),
        ("[1]", "is no table of a policy"),
        (json.dumps(ROW), "is no table of a policy"),
        (json.dumps({"schema_version": 2, "policy": ROW}), "schema_version 2"),
        (json.dumps({"schema_version": 1, "policy": ROW, "missing": "guess"}), "must be refuse or uniform"),
        (json.dumps({"schema_version": 1, "policy": ROW, "extra": 1}), "is no table of a policy"),
        (json.dumps({"schema_version": 1, "policy": [1]}), "must map situations"),
        (json.dumps({"schema_version": 1, "policy": {"K:": {"PASS": 1.5, "BET": -0.5}}}), "negative probability"),
        (json.dumps({"schema_version": 1, "policy": {"K:": {"PASS": 0.5}}}), "sums to 0.5, not to 1"),
        (json.dumps({"schema_version": 1, "policy": {"K:": {}}}), "sums to 0, not to 1"),
        (json.dumps({"schema_version": 1, "policy": {"K:": {"PASS": "x"}}}), "actions to probabilities"),
        ('{"schema_version": 1, "policy": {"K:": {"PASS": NaN}}}', "actions to probabilities"),
        (json.dumps({"schema_version": 1, "policy": {"K:": 1}}), "actions to probabilities"),
    ],
)
def test_a_malformed_file_is_one_sentence_with_its_name(tmp_path, content, problem):
    path = tmp_path / "table.json"
    path.write_text(content)
    with pytest.raises(BadRecord, match=problem) as caught:
        make_player(f"table:{path}", KUHN)
    assert "table.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(BadRecord, match="cannot be read: No such file"):
        TablePlayer.load(tmp_path / "none.json")


def test_a_table_that_cannot_be_saved_is_answered_with_a_sentence(tmp_path):
    with pytest.raises(StratagemError, match=r"new/table.json cannot be written: No such file or directory\.$"):
        TablePlayer({}).save(tmp_path / "new" / "table.json")


def test_a_table_without_a_file_is_one_sentence():
    with pytest.raises(BadRecord, match="is named by its file, as in table:PATH"):
        make_player("table:", KUHN)

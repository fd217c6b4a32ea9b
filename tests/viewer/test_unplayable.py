"""Episodes without a board: positions that no record holds, games of strangers that fail, files that may not run."""

from dataclasses import replace

import pytest
from page_client import ask
from shown_folder import episodes_of
from starlette.testclient import TestClient

from stratagem.base.errors import BadRecord
from stratagem.games.base import View
from stratagem.games.kuhn import Kuhn
from stratagem.playing.store import write_shard
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.checks.hidden import other_deals
from stratagem.show.viewer.replays import replay_of
from stratagem.show.viewer.studio import Studio


def test_position_that_was_set_up_for_a_question_gets_no_board(tmp_path):
    (first, *_) = episodes_of("kuhn(hands=1)", ["random", "random"], count=1)
    (row, *_) = first.decisions
    row.state_key = "Q:" if row.state_key == "K:" else "K:"
    write_shard(tmp_path / "asked", 0, [first])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://127.0.0.1:8150")
    data = ask(client, "episode", record="asked", id=first.id)
    assert "was set up for it" in data["unplayable"]
    assert data["frames"] == []
    assert "was set up for it" in ask(client, "position", 400, record="asked", id=first.id, turn=0)["error"]


def test_question_to_one_seat_gets_no_board_where_its_key_fits_the_deal_by_chance(tmp_path):
    (kuhn, *_) = episodes_of("kuhn(hands=1)", ["random", "random"], count=1)
    asked = replace(kuhn, purpose="probe", decisions=kuhn.decisions[:1], finished=False)
    (auction, *_) = episodes_of("auction(rounds=1)", ["random", "random"], count=1)
    board = {}
    for name, episode in {"asked": asked, "all": replace(auction, purpose="probe"), "game": kuhn}.items():
        write_shard(tmp_path / name, 0, [episode])
        board[name] = replay_of(tmp_path / name, episode.id)["unplayable"]
    assert "was set up for it" in board.pop("asked"), "the record does not tell the other seat's card"
    assert board == {"all": "", "game": ""}


def test_hidden_states_of_a_question_are_not_told_by_its_chance(tmp_path):
    (kuhn, *_) = episodes_of("kuhn(hands=1)", ["random", "random"], count=1)
    asked = replace(kuhn, purpose="probe", decisions=kuhn.decisions[:1], finished=False)
    assert len(list(other_deals(kuhn, 0, 0, {}))) == 1
    with pytest.raises(BadRecord, match="was set up for it"):
        list(other_deals(asked, 0, 0, {}))


@pytest.mark.parametrize("part", ["situation", "state_key"])
def test_game_of_a_stranger_that_fails_is_a_sentence(tmp_path, monkeypatch, part):
    (episode,) = episodes_of("kuhn(hands=1)", ["random", "random"], count=1)[:1]
    write_shard(tmp_path / "games", 0, [episode])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://127.0.0.1:8150")

    def broken(self):
        raise RuntimeError("it wants a licence")

    monkeypatch.setattr(View, part, property(broken))
    monkeypatch.setattr(Kuhn, "drawn_by", 7)
    with pytest.raises(RuntimeError):
        ask(client, "episode", record="games", id=episode.id)
    monkeypatch.setattr(Kuhn, "__module__", "stranger")
    said = ask(client, "episode", record="games", id=episode.id)["unplayable"]
    assert said == "kuhn(hands=1) cannot be shown: RuntimeError: it wants a licence."


def test_page_names_the_option_that_allows_a_file(tmp_path):
    (episode,) = episodes_of("kuhn(hands=1)", ["random", "random"], count=1)[:1]
    (tmp_path / "my games.py").write_text("raise SystemExit")
    write_shard(tmp_path / "games", 0, [replace(episode, game=f"{tmp_path}/my games.py:Mine")])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://127.0.0.1:8150")
    said = ask(client, "episode", record="games", id=episode.id)["unplayable"]
    assert f"start `stratagem view` again with `--allow-file '{tmp_path}/my games.py'`." in said
    assert "sg." not in said

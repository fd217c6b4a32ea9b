"""The experiment on drawn games: its list, its figures and its correlation."""

import json
import tomllib
from pathlib import Path

import drawn_agents
import drawn_agents_table
import numpy as np
import pytest
from drawn_agents import ListedGame, cost_sentence, games_left, list_games, measure
from drawn_agents_table import (
    FAMILIES,
    KNOWN,
    MODELS,
    SCRIPTS,
    UNSEEN,
    correlation,
    ratio,
    ratio_with_interval,
    summarise,
)

from stratagem.games.catalogue import make_game
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player

ROOT = Path(__file__).resolve().parents[2]
KUHN = ListedGame("kuhn", "known", "")


@pytest.mark.parametrize("agent", ["random", "first-legal"])
@pytest.mark.parametrize("game", ["kuhn", "ipd(rounds=3)", "blind-auction"])
def test_scripts_have_the_exploitability_of_the_players_of_their_names(agent, game):
    """Shares of the payoff range by seat, as gains in points by the exact measure."""
    found = measure(agent, "", ListedGame(game, "known", ""))
    told = exact(make_game(game), make_player(agent, make_game(game)))
    length = 3 if game == "ipd(rounds=3)" else 1
    gains = [seat.gain.mean * length for seat in told.by_seat]
    ranges = drawn_agents.solve_game(game).scaled.ranges
    assert found["by_seat"] == pytest.approx([gain / spread for gain, spread in zip(gains, ranges, strict=True)])
    assert found["exploitability"] == pytest.approx(np.mean(found["by_seat"]))


def test_solution_is_no_longer_exploitable_and_noise_makes_it_so():
    figures = [measure(agent, "", KUHN)["exploitability"] for agent in ("solution", "noise 0.2", "noise 0.5", "random")]
    assert figures[0] < 0.001
    assert figures == sorted(figures)


def test_players_by_name_are_asked(monkeypatch):
    """A player that is no script states its policy: NashApprox is near the equilibrium."""
    assert measure("tiny", "NashApprox", KUHN)["exploitability"] < 0.001


def fake_draws(monkeypatch, digest):
    """Draw games whose digests follow from family and seed."""

    class Draw:
        def __init__(self, seed, family):
            self.digest = digest(seed, family)

    monkeypatch.setattr(drawn_agents, "draw_game", lambda seed, family, size: Draw(seed, family))


def test_list_leaves_out_equal_games_and_goes_on(monkeypatch, tmp_path):
    fake_draws(monkeypatch, lambda seed, family: "equal" if seed in (0, 1) else f"{family} {seed}")
    names = [game.name for game in list_games(tmp_path, 2)]
    assert names[: len(KNOWN)] == list(KNOWN)
    drawn = names[len(KNOWN) :]
    assert drawn[:3] == ["drawn(seed=0, family=cards)", "drawn(seed=2, family=dice)", "drawn(seed=2, family=auction)"]
    assert len(set(drawn)) == 2 * len(FAMILIES)
    longer = [game.name for game in list_games(tmp_path, 3)]
    assert longer[: len(names)] == names
    assert len(longer) == len(names) + len(FAMILIES)


def test_list_of_another_generator_is_refused(monkeypatch, tmp_path):
    (tmp_path / "games.json").write_text(json.dumps({"generator": -1, "games": {}}), "utf-8")
    with pytest.raises(SystemExit, match="version -1"):
        list_games(tmp_path, 1)


def test_what_is_measured_is_not_left(tmp_path):
    (tmp_path / "agents").mkdir()
    held = {"agent": "tiny", "rows": [{"game": "kuhn", "seconds": 30.0}]}
    (tmp_path / "agents" / "tiny.json").write_text(json.dumps(held), "utf-8")
    games = [KUHN, ListedGame("drawn(seed=1)", "cards", "a"), ListedGame("drawn(seed=2)", "cards", "b")]
    left = games_left(tmp_path, "tiny", games)
    assert left == games[1:]
    assert "about 1.0 min" in cost_sentence(held, left)
    assert "no time is known" in cost_sentence({"agent": "tiny", "rows": []}, games)


def test_costly_models_are_asked_in_small_known_games_alone(tmp_path):
    games = [KUHN, ListedGame("spiel:liars_dice(dice_sides=4)", "known", "")]
    assert games_left(tmp_path, "smollm2", games) == games[:1]
    assert games_left(tmp_path, "tiny", games) == games


def rows_of(agent, figures):
    """Rows of an agent: two known games, and two drawn ones."""
    names = [("kuhn", "known"), ("leduc", "known"), ("drawn(seed=1)", "cards"), ("drawn(seed=2)", "cards")]
    return {
        name: {"game": name, "family": family, "exploitability": value, "constant_sum": True}
        | {"seconds": 1.0, "information_sets": 10}
        for (name, family), value in zip(names, figures, strict=True)
    }


FIGURES = {
    "solution": (0.0, 0.0, 0.0, 0.0),
    "random": (0.2, 0.2, 0.1, 0.3),
    "first-legal": (0.4, 0.2, 0.2, 0.4),
    "myopic": (0.1, 0.1, 0.1, 0.1),
    "tiny": (0.2, 0.18, 0.1, 0.28),
    "kuhn-sepo": (0.02, 0.3, 0.2, 0.3),
}


def test_ratio_is_of_sums():
    rows = {agent: rows_of(agent, figures) for agent, figures in FIGURES.items()}
    assert ratio(rows["first-legal"], rows["random"], ["kuhn", "leduc"]) == pytest.approx(1.5)
    assert ratio(rows["myopic"], rows["random"], ["drawn(seed=1)", "drawn(seed=2)"]) == pytest.approx(0.5)


def test_a_family_of_one_game_has_no_interval():
    """Drawn again it would always be the same, and the interval too narrow."""
    rows = {agent: rows_of(agent, figures) for agent, figures in FIGURES.items()}
    rows["tiny"]["drawn(seed=2)"]["family"] = "dice"
    found = ratio_with_interval(rows["tiny"], rows["random"], ["drawn(seed=1)", "drawn(seed=2)"])
    assert found["ratio"] == pytest.approx(0.95)
    assert "interval" not in found


def test_correlation_is_over_agents_but_controls(monkeypatch):
    monkeypatch.setattr(drawn_agents_table, "ROUNDS", 20)
    monkeypatch.setattr(drawn_agents_table, "PERMUTATIONS", 200)
    rows = {agent: rows_of(agent, figures) for agent, figures in FIGURES.items()}
    found = correlation(rows, ["kuhn", "leduc"], ["drawn(seed=1)", "drawn(seed=2)"])
    assert found["agents"] == ["first-legal", "myopic", "tiny", "kuhn-sepo"]
    # known: 1.5, .5, .95, .8; drawn: 1.5, .5, .95, 1.25: of six pairs one is in another order
    assert found["Kendall"]["value"] == pytest.approx(4 / 6)
    assert found["Spearman"]["value"] == pytest.approx(0.8)
    assert found["Kendall"]["p"] > 0.2
    low, high = found["Kendall"]["over games and agents"]
    assert low <= found["Kendall"]["value"] <= high


def test_summary_has_ratios_tests_and_the_control(monkeypatch):
    monkeypatch.setattr(drawn_agents_table, "ROUNDS", 20)
    monkeypatch.setattr(drawn_agents_table, "PERMUTATIONS", 50)
    files = [{"agent": agent, "rows": list(rows_of(agent, own).values())} for agent, own in FIGURES.items()]
    found = summarise(files)
    assert found["agents"]["random"]["drawn"]["ratio"] == 1.0
    assert found["agents"]["random"]["drawn"]["interval"] == [1.0, 1.0]
    assert found["agents"]["tiny"]["known games"]["leduc"]["ratio"] == pytest.approx(0.9)
    assert found["control"] == {"games": 2, "largest": 0.0, "largest, constant sum": 0.0}
    assert set(found["unseen"]) == {"tiny", "kuhn-sepo"}
    assert found["unseen"]["kuhn-sepo"]["difference"] == pytest.approx(0.05)
    assert found["unseen"]["kuhn-sepo"]["holm_p"] >= found["unseen"]["kuhn-sepo"]["p"]


def test_declaration_names_the_agents_games_and_families():
    declared = tomllib.loads((ROOT / "experiments/declared/drawn.toml").read_text("utf-8"))
    said = " ".join(" ".join(map(str, declared.values())).split()).replace("liars-dice- sepo", "liars-dice-sepo")
    named = {"smollm2": "SmolLM2", "gemma": "Gemma"}
    for agent in (*SCRIPTS, *MODELS):
        told = agent.replace("noise 0.", "noise .")
        assert named.get(told, told) in said
    assert f"*unseen* ({len(UNSEEN)})" in said
    assert all(f"*{family}*" in said for family in ("unseen", "rank", "gate", "training"))
    assert len(KNOWN) == 8

"""The atlas: its plan, its adversaries on tables, and its statistics over clusters."""

import gzip
import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from random import Random
from types import SimpleNamespace

import atlas
import atlas_adversaries
import atlas_dataset
import atlas_statistics
import atlas_table
import numpy as np
import pytest
from atlas import AtlasPolicy, even_play, scaled_oracle
from atlas_adversaries import GameBots, RandomLists, distance_from_even, limit_figures, pool_figures, respond, seat_gain
from atlas_exploiters import TableOpponent, learn, search
from atlas_statistics import bootstrap_interval, clustered_figure, low_quantile, rank_correlations
from drawn_agents import ListedGame
from result_tables import FinishedRun
from scipy.stats import kendalltau, spearmanr

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.run_models import RunModel, RunModels, write_run_models
from stratagem.measure.exploitability.exact import exact, of_policy
from stratagem.measure.tree_policy import policy_on
from stratagem.players.catalogue import make_player
from stratagem.training.runs.folder import RunFolder

ROOT = Path(__file__).resolve().parents[2]
KUHN = "kuhn(hands=1)"


@pytest.fixture(scope="module")
def kuhn():
    return scaled_oracle(KUHN)


def played(oracle, name):
    """Policy of a player by its name."""
    return policy_on(oracle.tree, make_player(name, oracle.tree.game))


def plans_of(oracle, bots):
    return [np.array([oracle.form.plans(bot)[seat] for bot in bots]) for seat in range(2)]


# --- the plan


def test_every_game_and_method_has_its_first_seed_before_the_second(tmp_path):
    runs = [planned.name for planned in atlas.known(tmp_path, (1, 2))]
    half = len(runs) // 2
    assert {name.rpartition("-")[0] for name in runs[:half]} == {name.rpartition("-")[0] for name in runs[half:]}
    assert all(name.endswith("-1") for name in runs[:half])
    assert len(set(runs)) == 2 * len(atlas.KNOWN) * (1 + len(atlas.METHODS))


def test_sft_is_planned_before_the_runs_that_start_from_it(tmp_path):
    made = set()
    for planned in atlas.known(tmp_path, (1,)):
        model = planned.changes["model"]
        assert planned.first == (model == "tiny")
        assert model == "tiny" or Path(model.removeprefix("run:").partition("@")[0]).name in made
        made.add(planned.name)


def test_methods_move_on_over_drawn_games(tmp_path, monkeypatch):
    games = {f"drawn{number:02}": atlas.AtlasGame(f"drawn(seed={number})") for number in range(20)}
    monkeypatch.setattr(atlas, "drawn_games", lambda folder: games)
    runs = [planned.name.split("-") for planned in atlas.drawn(tmp_path, (1, 2))]
    methods = Counter(method for _, method, _ in runs)
    assert methods.pop("sft") == 40
    assert set(methods) == set(atlas.METHODS)
    assert max(methods.values()) - min(methods.values()) <= 2
    by_game = {(game, method) for game, method, _ in runs if method != "sft"}
    assert len(by_game) == 40  # the second seed of a game is trained otherwise than the first


@pytest.mark.parametrize("method", [atlas.SFT, *atlas.METHODS])
def test_recipes_of_all_methods_can_be_composed(method, tmp_path):
    planned = next(one for one in atlas.known(tmp_path, (1,)) if one.name == f"dice-{method}-1")
    recipe = planned.recipe()
    assert tuple(recipe.games) == ("spiel:liars_dice(dice_sides=4)",)
    assert recipe.style == "bare"


@pytest.mark.parametrize("family", ["cards", "auction"])
def test_sft_can_be_trained_in_drawn_games_of_any_sum(family, tmp_path, monkeypatch):
    """No solver of games with a constant sum can be their teacher."""
    games = [ListedGame(f"drawn(seed=0, family={family})", family, "")]
    monkeypatch.setattr(atlas, "list_games", lambda folder, per_family: games)
    for planned in atlas.drawn(tmp_path, atlas.DRAWN_SEEDS):
        if planned.first:
            planned.check_trainable()


@pytest.mark.parametrize(
    ("method", "labels"),
    [
        ("grpo", {"middle": "30", "end": "60"}),
        ("league", {"middle": "30/main", "end": "60/main", "other": "10/main"}),
        ("kto", {"middle": "22", "end": "82", "other": "last/kto"}),
    ],
)
def test_labels_are_those_of_the_middle_and_the_end(method, labels, tmp_path):
    models = dict.fromkeys(("base", "start", "last", "best", *labels.values()), RunModel(model="tiny"))
    write_run_models(tmp_path, RunModels(models=models))
    assert atlas.labels_of(tmp_path, method) == {stage: labels[stage] for stage in ("middle", "end")}
    assert atlas.labels_of(tmp_path, atlas.SFT) == {"end": "start"}


def test_run_without_a_middle_is_refused(tmp_path):
    write_run_models(tmp_path, RunModels(models=dict.fromkeys(("start", "10", "40"), RunModel(model="tiny"))))
    with pytest.raises(SystemExit, match="no policy of the middle: its models are start, 10, 40"):
        atlas.labels_of(tmp_path, "grpo")


@pytest.mark.parametrize("model", ["tiny", "smollm2"])
def test_names_of_policies_lead_back_to_their_runs(model, tmp_path):
    planned = next(iter(atlas.known(tmp_path, (3,), model)))
    one = AtlasPolicy("kuhn", KUHN, "sft", 3, "end", np.zeros(0), model)
    assert one.name == f"{planned.name}@end"
    stem, _, seed = planned.name.rpartition("-")
    assert atlas.parts_of(FinishedRun(stem, int(seed), RunFolder(tmp_path))) == ("kuhn", "sft", model)
    assert one.family == planned.name.replace("-sft", "")


def test_tables_of_a_run_are_extracted_once(kuhn, tmp_path, monkeypatch):
    folder, asked = SimpleNamespace(path=tmp_path, config_data=lambda: {"games": [KUHN]}), []

    def make(text, game):
        asked.append(text)
        return make_player("Bluffer", game)

    monkeypatch.setattr(atlas, "own_text", lambda path, label: {"start": "dir:base/model"}[label])
    monkeypatch.setattr(atlas, "make_player", make)
    one = FinishedRun("kuhn-sft", 1, folder)
    for _ in range(2):
        assert atlas.extract(one)["end"].tolist() == played(kuhn, "Bluffer").tolist()
    assert asked == ["lm(dir:base/model, style=bare, mode=direct, temperature=1.0)"]


def test_data_set_has_a_number_for_every_action_and_a_card(kuhn, tmp_path, monkeypatch):
    made = [
        {"made_by": {"commit": "abc"}, "format": 1},
        atlas_dataset.game_line("kuhn", KUHN, kuhn.tree),
        {"policy": "kuhn-sft-1@end", "probabilities": even_play(kuhn).tolist()},
    ]
    monkeypatch.setattr(atlas_dataset, "lines", lambda folder: made)
    monkeypatch.setattr(sys, "argv", ["atlas_dataset.py", "runs/atlas", str(tmp_path / "p.json.gz")])
    atlas_dataset.main()
    _, game, policy = map(json.loads, gzip.decompress((tmp_path / "p.json.gz").read_bytes()).decode().splitlines())
    assert sum(len(actions) for _, _, actions in game["sets"]) == len(policy["probabilities"])
    assert "1 policies of language models in 1 games" in (tmp_path / "README.md").read_text()


# --- adversaries


@pytest.mark.parametrize("text", [KUHN, "ipd(rounds=3)"])
def test_scaled_exploitability_is_the_exact_one_in_shares_of_the_range(text):
    game, oracle = make_game(text), scaled_oracle(text)
    told = exact(game, make_player("random", game)).exploitability
    per_episode = told * (3 if text.startswith("ipd") else 1)
    ranges = {KUHN: 4.0, "ipd(rounds=3)": 15.0}
    assert of_policy(oracle, even_play(oracle)).exploitability == pytest.approx(per_episode / ranges[text])


def test_pool_with_the_best_response_sees_all(kuhn):
    policy = played(kuhn, "Bluffer")
    plans = plans_of(kuhn, [even_play(kuhn), respond(kuhn, policy), played(kuhn, "AlwaysBet")])
    found = pool_figures(kuhn, policy, plans, np.array([[0, 1, 2], [1, 0, 2]]))
    whole = of_policy(kuhn, policy).exploitability
    assert found[2] == pytest.approx([whole, whole])
    assert found[1][1] == pytest.approx(whole)
    assert found[1][0] < whole
    assert set(found) == {1, 2}


def test_pools_of_bots_by_hand_in_kuhn(kuhn):
    """Against random play always to pass loses; always to bet gains 3/8 of a chip at each seat, of a range of 4.

    Random play has 1/8 at seat 0. A bet is folded to in half of the cases, and a showdown is even: seat 0 has 1/2 by
    betting. Seat 1 has 1/4: half of all hands are passed to it, and half of its bets win the ante.
    """
    passive = played(kuhn, "first-legal")
    assert {kuhn.tree.information_sets[n].actions[0] for n in range(12)} == {"PASS", "FOLD"}
    plans = plans_of(kuhn, [passive, played(kuhn, "AlwaysBet")])
    found = pool_figures(kuhn, even_play(kuhn), plans, np.array([[0, 1]]))
    assert found[1] == [0.0]
    assert found[2] == pytest.approx([3 / 32])
    assert seat_gain(kuhn, even_play(kuhn), passive, 0) == pytest.approx(-5 / 32)


def test_larger_pools_of_a_draw_see_no_less(kuhn):
    runs = (("Bluffer", "sft", 1), ("Trapper", "grpo", 1), ("CallingStation", "sft", 2))
    policies = [AtlasPolicy("kuhn", KUHN, method, seed, "end", played(kuhn, name)) for name, method, seed in runs]
    bots = GameBots(kuhn, policies, Key(0))
    for bank, plans in (("scripts", bots.scripts), ("lists", bots.lists), ("responses", bots.responses)):
        found = pool_figures(kuhn, policies[0].policy, plans, bots.orders(bank, policies[0]))
        columns = np.array([found[k] for k in sorted(found)])
        assert (np.diff(columns, axis=0) >= 0.0).all()
        assert columns.max() <= of_policy(kuhn, policies[0].policy).exploitability + 1e-12
    assert set(bots.orders("responses", policies[1]).ravel()) == {2}  # the other one starts from its SFT model
    assert set(bots.orders("responses", policies[2]).ravel()) == {0, 1}
    assert bots.see_by_scripts(policies[0].policy) >= max(
        pool_figures(kuhn, policies[0].policy, bots.scripts, bots.orders("scripts", policies[0]))[10]
    )
    assert bots.see_all(policies[0].policy) == pytest.approx(of_policy(kuhn, policies[0].policy).exploitability)
    assert (
        bots.orders("lists", policies[0]).size
        == len(bots.lists[0])
        == len(np.unique(bots.orders("lists", policies[0])))
    )


def test_random_lists_are_pure_legal_and_differ(kuhn):
    lists, generator = RandomLists(kuhn), np.random.default_rng(0)
    drawn = [lists.draw(generator) for _ in range(30)]
    assert all(np.add.reduceat(one, kuhn.tree.slots[:-1]) == pytest.approx(1.0) for one in drawn)
    assert len({one.tobytes() for one in drawn}) > 15
    assert 0.3 < np.mean([one[::2] for one in drawn]) < 0.7  # no action is the usual one


@pytest.mark.parametrize("name", ["CallingStation", "AlwaysBet"])
def test_learning_and_search_find_the_best_response_with_a_large_budget(name, kuhn):
    """Also where the policy itself never gets, as to a pass of AlwaysBet."""
    policy = played(kuhn, name)
    opponent, whole = TableOpponent(kuhn, policy), of_policy(kuhn, policy).exploitability
    for method, budgets in ((learn, (30, 3_000)), (search, (2, 300))):
        made = [list(method(opponent, seat, Random(1), budgets)) for seat in range(2)]
        few, many = (sum(seat_gain(kuhn, policy, made[seat][n], seat) for seat in range(2)) / 2 for n in range(2))
        assert few <= many <= whole + 1e-12
        assert many > 0.9 * whole


def test_learning_without_visits_plays_as_the_policy(kuhn):
    policy = even_play(kuhn)
    (found,) = learn(TableOpponent(kuhn, policy), 0, Random(0), (3,))
    assert found.tolist() == policy.tolist()


def test_lower_limits_cover(kuhn, monkeypatch):
    """A limit of 95 % is too high in at most 4 of 30 cases, but for a chance of one in 16."""
    monkeypatch.setattr(atlas_adversaries, "REPLIES", (30,))
    monkeypatch.setattr(atlas_adversaries, "LIMIT_DRAWS", 30)
    policy = played(kuhn, "noise(NashApprox, p=0.3)")
    found = limit_figures(kuhn, policy, Key(2))[30]
    whole = of_policy(kuhn, policy).exploitability
    assert sum(value > whole for value in found) <= 4
    assert max(found) > 0.2 * whole


def test_distance_from_random_play_is_weighed_by_play(kuhn):
    assert distance_from_even(kuhn, even_play(kuhn)) == 0.0
    assert distance_from_even(kuhn, played(kuhn, "AlwaysBet")) == pytest.approx(0.5)


# --- statistics


def test_bootstrap_draws_whole_clusters():
    """Of two clusters with means 0 and 1 a sample has the mean 0, 1/2 or 1, with chances 1/4, 1/2, 1/4."""
    found = {"kuhn": {"kuhn-1": [0.0] * 50, "kuhn-2": [1.0] * 50}}
    assert clustered_figure(found) == 0.5
    assert bootstrap_interval(found, over_games=False) == [0.0, 1.0]
    alone = {"kuhn": {"kuhn-1": [0.0, 1.0]}, "leduc": {"leduc-1": [0.5, 1.5, 1.0]}}
    assert bootstrap_interval(alone, over_games=False) == [0.75, 0.75]
    assert bootstrap_interval(alone, over_games=True) == [0.5, 1.0]
    uneven = {"kuhn": {"kuhn-1": [0.4]}, "leduc": {"leduc-1": [0.0], "leduc-2": [1.0]}}
    assert bootstrap_interval(uneven, over_games=False) == pytest.approx([0.2, 0.7])


def test_clusters_weigh_equally():
    found = {"kuhn": {"a": [1.0], "b": [0.0, 0.0, 0.0]}, "ipd": {"c": [0.5] * 7}}
    assert clustered_figure(found) == 0.5
    assert low_quantile(found, 0.1) == 0.0
    assert low_quantile(found, 0.25) == 0.5
    assert low_quantile(found, 0.75) == 1.0


def test_rank_correlations_are_those_of_scipy_and_their_null_is_within_groups(monkeypatch):
    monkeypatch.setattr(atlas_statistics, "PERMUTATIONS", 200)
    monkeypatch.setattr(atlas_statistics, "ROUNDS", 50)
    generator = np.random.default_rng(3)
    exact_figures = generator.random(12)
    seen = np.array([exact_figures + noise * generator.random(12) for noise in (0.1, 1.0)]).round(1)
    groups = ["a"] * 6 + ["b"] * 6
    found = rank_correlations(seen, exact_figures, groups)
    assert found["Kendall"] == pytest.approx(np.mean([kendalltau(row, exact_figures).statistic for row in seen]))
    assert found["Spearman"] == pytest.approx(np.mean([spearmanr(row, exact_figures).statistic for row in seen]))
    assert found["p"] < 0.05
    between = rank_correlations(np.array([[0.0] * 6 + [1.0] * 6]), np.array([0.0] * 6 + [1.0] * 6), groups)
    assert between["Kendall"] == pytest.approx(1.0)
    assert between["p"] == 1.0  # groups that differ prove nothing


# --- the table


def row_of(game, method, seed, exact_figure, share, stage="end", distance=0.3):
    """Row of a policy of which every adversary sees a share."""
    values = [exact_figure * share] * 4
    seen = {kind: {"2": values, "10": values} for kind in atlas_table.POOLS}
    seen["lists"]["20"] = values
    seen["whole"] = {"1": values[:1]}
    sizes = {"learn": "1000", "search": "100", "limit": "50"}
    seen |= {kind: {size: [exact_figure]} for kind, size in sizes.items()}
    name = f"{game}-{method}-{seed}@{stage}"
    return {
        "policy": name, "game": game, "text": game, "family": f"{game}-{seed}", "method": method, "seed": seed,
        "stage": stage, "exact": exact_figure, "control": exact_figure, "random": 1.0, "distance": distance,
        "scripts": 4, "seen": seen,
    }  # fmt: skip


@pytest.fixture(scope="module")
def summary():
    """Half of the exploitability is seen in the games of the fit, and a tenth in the others."""
    games = [*atlas.KNOWN, *(f"drawn0{number}" for number in range(4))]
    rows = [
        row_of(game, method, seed, 0.2 + 0.1 * seed + 0.01 * n, 0.5 if atlas_table.is_even(game) else 0.1)
        for game in games
        for n, method in enumerate((atlas.SFT, *atlas.METHODS))
        for seed in (1, 2)
    ]
    rows.append(row_of("kuhn", "grpo", 1, 0.001, 0.0, stage="middle"))
    rows.append(row_of("kuhn", "kto", 1, 0.9, 0.9, stage="middle", distance=0.01))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PERMUTATIONS", "ROUNDS"):
            patch.setattr(atlas_statistics, name, 40)
        patch.setattr(bootstrap_interval, "__kwdefaults__", {"rounds": 40})
        patch.setattr(atlas_table, "DRAWS", 4)
        return atlas_table.summarise(rows)


def test_policies_near_random_play_do_not_count(summary):
    assert summary["games"]["kuhn"] | {"random": 1.0} == {
        "policies": 16, "counted": 15, "with a share": 14, "scripts": 4, "random": 1.0, "text": "kuhn",
    }  # fmt: skip


def test_curves_have_the_share_by_group(summary):
    found = {(row["group"], row["kind"], row["size"]): row for row in summary["curves"]}
    assert found["kuhn", "lists", 20]["mean"] == pytest.approx(0.5)
    assert found["known", "lists", 20]["mean"] == pytest.approx(0.3)
    assert found["all", "learn", 1000]["mean"] == pytest.approx(1.0)
    assert found["drawn", "lists", 2]["games"] == 4
    assert (found["known", "lists", 20]["low"], found["known", "lists", 20]["high"]) == pytest.approx((0.3, 0.3))


def test_false_verdicts_are_of_policies_above_the_threshold(summary):
    """Of an exact .31 to .46 a pool that sees half calls nobody safe at .1, and all whose half is below .25."""
    found = {(row["threshold"], row["group"], row["kind"], row["size"]): row for row in summary["verdicts"]}
    assert found[0.1, "drawn", "lists", 20]["mean"] == pytest.approx(0.5)  # of the game where it sees a tenth, all
    assert found[0.25, "known", "lists", 20]["mean"] == pytest.approx(1.0)
    assert found[0.25, "known", "learn", 1000]["mean"] == 0.0


def test_rule_fails_in_games_where_less_is_seen(summary):
    found = {(row["kind"], row["size"], row["part"]): row for row in summary["rules"]}
    assert found["lists", 20, "fitted"]["least"] == pytest.approx(0.5)
    assert found["lists", 20, "methods"]["verdict"] == "holds"
    assert found["lists", 20, "pools"]["verdict"] == "holds"
    assert found["lists", 20, "games"]["verdict"] == "fails"
    assert found["lists", 20, "games"]["mean"] == 0.0


def test_rule_that_promises_nothing_is_empty():
    assert atlas_table.verdict(0.0, {"games": 4, "low": 1.0, "high": 1.0}) == "empty"
    assert atlas_table.verdict(0.1, {"games": 4, "low": 0.5, "high": 0.95}) == "not shown"


@pytest.mark.parametrize(("games", "said"), [(3, "not shown"), (4, "holds")])
def test_rule_needs_four_games(games, said):
    assert atlas_table.verdict(0.1, {"games": games, "low": 1.0, "high": 1.0}) == said


def test_only_pools_of_new_bots_are_held_out(summary):
    assert {row["kind"] for row in summary["rules"] if row["part"] == "pools"} == {"lists"}


def test_all_scripts_are_ranked_where_they_are_fewer_than_ten():
    few = row_of("leduc", "grpo", 1, 0.3, 0.5)
    del few["seen"]["scripts"]["10"]
    assert atlas_table.ranked_cell(few, "scripts", 10) == ("whole", 1)
    assert atlas_table.ranked_cell(few, "lists", 10) == ("lists", 10)
    assert atlas_table.ranked_cell(row_of("kuhn", "grpo", 1, 0.3, 0.5), "scripts", 10) == ("scripts", 10)


def test_figures_of_fewer_games_say_so():
    most = atlas_table.most_games([{"group": "all", "games": 24}, {"group": "all", "games": 2}])
    assert atlas_table.games_of({"games": 2}, most["all"]) == ", 2 games"
    assert atlas_table.games_of({"games": 24}, most["all"]) == ""


def test_figure_of_a_single_cluster_has_no_interval():
    one, two = {"kuhn": {"kuhn-1": [0.2, 0.4]}}, {"kuhn": {"kuhn-1": [0.2], "kuhn-2": [0.4]}}
    assert "low" not in atlas_table.figure_row(one, games=False)
    assert "low" not in atlas_table.figure_row(two, games=True)
    assert "low" not in atlas_table.figure_row({**one, "ipd": two["kuhn"]}, games=False)
    assert atlas_table.figure_row(two, games=False)["low"] == pytest.approx(0.2)
    assert atlas_table.cell_text(atlas_table.figure_row(one, games=False)) == ".30"
    assert atlas_table.verdict(0.1, atlas_table.figure_row(one, games=False)) == "not shown"


def test_tests_are_corrected_over_the_declared_families(summary):
    assert Counter(row["family"] for row in summary["ranks"]) == {"pools": 12, "budgets": 12}
    assert all(row["p (Holm)"] >= row["p"] for row in summary["ranks"])
    by_name = {row["test"]: row for row in summary["tests"]}
    assert set(by_name) == set(atlas_table.SHARES)
    assert by_name["learn at 1000 less lists at 20"]["difference"] == pytest.approx(0.7)
    assert by_name["learn at 1000 less lists at 20"]["p"] == pytest.approx(2 / 2**8)
    assert by_name["all scripts less lists at 20"]["difference"] == 0.0


def test_tables_can_be_printed_and_stored(summary, capsys):
    atlas_table.print_tables(summary)
    assert "| lists | 20 | fitted | .50 |" in capsys.readouterr().out
    assert json.loads(json.dumps(summary))["policies"][0]["seen"]["lists"]["20"]


def test_declaration_names_the_families_methods_and_sizes():
    declared = tomllib.loads((ROOT / "experiments/declared/atlas.toml").read_text("utf-8"))
    said = " ".join(" ".join(map(str, declared.values())).split())
    assert all(f"`{name}`" in said for name in (*atlas.METHODS, *atlas.KNOWN, *atlas_table.POOLS, *atlas_table.BUDGETS))
    assert f"*share* ({len(atlas_table.SHARES)})" in said
    assert all(f"*{name}* ({len(sizes) * len(atlas.KNOWN)})" in said for name, sizes in atlas_table.RANKED.items())
    for numbers in (
        atlas_adversaries.KS,
        atlas_adversaries.REPLIES,
        atlas_adversaries.LEARNING,
        atlas_adversaries.SEARCH,
    ):
        *first, last = [f"{number:,}" for number in numbers]
        assert f"{', '.join(first)} and {last}" in said
    assert f"seeds {atlas.SEEDS[0]} to {atlas.SEEDS[-1]}" in said

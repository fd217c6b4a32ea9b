"""Every command: what it prints, what it writes, and one sentence for each of a user's mistakes."""

import json

import pytest

from stratagem.base.consent.table import consent
from stratagem.cli.main import main
from stratagem.cli.plural import spread
from stratagem.language.engines.open import serving
from stratagem.language.engines.remote import terms
from stratagem.language.engines.remote.budget import current_budget


def test_options_that_take_several_values():
    assert spread(["play", "kuhn", "--players", "a", "b", "--seed", "3"]) == [
        *("play", "kuhn", "--players", "a", "--players", "b", "--seed", "3")
    ]
    assert spread(["play", "kuhn", "--players", "--json"]) == ["play", "kuhn", "--players", "--json"]
    assert spread(["eval", "--players=a"]) == ["eval", "--players=a"]


def test_an_option_that_is_a_setting_is_told_with_the_option_for_it(run):
    status, _, said = run("train", "sepo/kuhn-tiny", "--batch-size", "3")
    assert status == 2
    assert "No such option: --batch-size. A setting of the recipe is changed by --set batch_size=VALUE." in said
    assert (
        "No such option: --outt (Possible options: --out, --timeout)"
        in run("train", "sepo/kuhn-tiny", "--outt", "a")[2]
    )
    assert "--set" not in run("data", "kuhn", "--batch-size", "3")[2].partition("Possible")[0]


@pytest.mark.parametrize(
    ("words", "example"),
    [
        ("eval --game kuhn --player random", "stratagem eval kuhn --player run:runs/demo."),
        ("play --games kuhn", "stratagem play kuhn --players NashApprox random."),
        ("train --recipe sepo/kuhn-tiny", "stratagem train sepo/kuhn-tiny --out runs/demo."),
        ("audit --agent random", "stratagem audit run:runs/demo --games kuhn --decisions 1200 --out audits/demo."),
    ],
)
def test_an_argument_that_is_given_as_an_option_is_told(run, words, example):
    status, _, said = run(*words.split())
    assert status == 2
    assert f"No such option: {words.split()[1]}. It needs no option, as in: {example}" in " ".join(said.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("play --players random Lazy kuhn", "'game'. --players took random, Lazy, kuhn: write arguments before it."),
        ("audit --games kuhn random", "Name player. --games took kuhn, random: write arguments before it."),
        ("audit --games kuhn", "Name player."),
        ("play --players=random", "Error: Missing argument 'game'."),
    ],
)
def test_words_that_an_option_took_are_told_where_an_argument_is_missing(run, words, told):
    status, _, said = run(*words.split())
    assert status == 2
    assert said.endswith(told)


@pytest.mark.parametrize(
    "option",
    [
        ("--allow-host", "one:80"),
        ("--timeout", "3"),
        ("--tries", "2"),
        ("--budget", "5calls"),
        ("--engine", "transformers(rows=3)"),
    ],
)
def test_a_refused_argument_ends_what_the_ones_before_it_set(option, monkeypatch):
    """Also while somebody holds the exception, and with it the frames; the extra of Ray is looked for last."""
    monkeypatch.setattr("stratagem.playing.workers.ray_cluster.find_spec", lambda name: None)

    def now():
        return consent().allowed, terms.current(), current_budget(), serving()

    before, gives = now(), "eval"
    with pytest.raises(SystemExit) as ended:
        main([gives, "kuhn", *option, "--ray", "auto"])
    assert now() == before
    assert ended.value.code == 2


def test_games_are_listed_and_shown(run):
    status, printed, _ = run("games")
    assert status == 0
    assert all(name in printed for name in ("ipd", "auction", "negotiation-v2", "kuhn", "liars-dice", "goofspiel"))
    cards = json.loads(run("games", "--json")[1])
    assert {card["name"] for card in cards} >= {"kuhn", "nim", "breakthrough-6x6"}
    status, printed, _ = run("games", "ipd(rounds=3)")
    assert "DEFECT" in printed
    assert "ipd(rounds=3)" in printed


def test_players_are_listed_with_their_rules(run):
    cards = json.loads(run("players", "kuhn", "--json")[1])["kuhn"]
    nash = next(card for card in cards if card["name"] == "NashApprox")
    assert nash["pools"] == ["train", "exploit"]
    assert nash["stochastic"]
    assert "GrimTrigger" in run("players")[1]


def test_a_match_is_told_recorded_and_shown_again(run, tmp_path):
    folder = tmp_path / "games"
    status, told, _ = run("play", "ipd", "--players", "TitForTat", "AlternateDefect", "--record", folder)
    assert status == 0
    assert told.count(": COOPERATE") == told.count(": DEFECT") == 8
    status, listed, _ = run("show", folder)
    assert "games: 1 episode\n" in listed
    assert run("show", folder, "--episode", 1)[1] == told
    assert "choose another folder" in run("play", "ipd", "--players", "TitForTat", "--record", folder)[2]
    episode = json.loads(run("show", folder, "--episode", 1, "--json")[1])
    assert episode["players"] == ["ipd/TitForTat@1", "ipd/AlternateDefect@1"]
    assert len(episode["decisions"]) == 16


def test_one_name_serves_every_seat_and_totals_follow_a_long_match(run):
    _, printed, _ = run("play", "auction(seats=3)", "--players", "Truthful", "--episodes", 3, "--show", 0)
    assert "3 episodes" in printed
    assert printed.count("auction/Truthful@1") == 3


def test_an_evaluation_prints_writes_and_agrees_with_itself(run, tmp_path):
    out = tmp_path / "deep" / "kuhn.json"
    command = ("eval", "kuhn", "--player", "NashApprox", "--player", "AlwaysBet", "--episodes", 4, "--out", out)
    status, printed, said = run(*command)
    assert status == 0
    assert printed.splitlines()[1].split() == ["player", "payoff", "exploitability"]
    assert "random (chance)" in printed
    assert "NashApprox stands in train and exploit" in said
    data = json.loads(out.read_text())
    (game,) = data["games"]
    rows = {row["player"]: row for row in game["players"]}
    assert rows["kuhn/NashApprox"]["exact"]["exploitability"] == pytest.approx(0.0, abs=1e-12)
    assert rows["kuhn/NashApprox"]["metrics"]["pool_advantage"]["mean"] == pytest.approx(0.0, abs=1e-12)
    assert rows["random"]["exact"]["exploitability"] == pytest.approx(0.458333, abs=1e-6)
    assert set(game["differences_on_played_deals"]) == {"kuhn/AlwaysBet", "random"}
    again = json.loads(run(*command, "--json")[1])
    assert again["games"] == data["games"]


@pytest.mark.runs
def test_other_opponents_and_more_metrics(run):
    _, printed, _ = run("eval", "nim", "--player", "perfect", "--opponents", "random", "--episodes", 2, "--all")
    assert "regret" in printed
    _, printed, _ = run("eval", "ipd", "--player", "TitForTat", "--episodes", 2, "--metric", "win rate", "--no-chance")
    assert "win rate" in printed
    assert "random" not in printed.splitlines()[2]


def test_eval_prints_nulls_and_named_seats_of_diplomacy(run, tmp_path):
    out = tmp_path / "hold.json"
    asked = ("diplomacy(until=1901, judged=False)", "--player", "hold", "--player", "territorial")
    status, printed, _ = run("eval", *asked, "--opponents", "hold", "--episodes", 7, "--no-chance", "--out", out)
    assert status == 0
    title, heads, *rows = printed.splitlines()
    assert title.endswith(", in share of the sum of squared centres")
    assert heads.split() == ["player", "first", "sole", "first", "centres", "payoff"]
    nulls = {row.split("  ")[0]: row for row in rows if row.startswith("null of ")}
    assert set(nulls) == {"null of hold", "null of territorial"}
    assert all(row.rstrip().endswith(" 0.143") for row in nulls.values())
    assert "unscaled" not in printed
    assert "mutual cooperation" not in printed
    everything = run("eval", *asked, "--opponents", "hold", "--episodes", 7, "--no-chance", "--all")[1]
    assert everything.count("AUSTRIA") == everything.count("TURKEY") == 2
    assert {"backstab", "expansion"} <= set(everything.split())
    first, second = json.loads(out.read_text())["games"][0]["players"]
    assert first["nulls"]["payoff"] == pytest.approx(1 / 7)
    assert first["nulls"]["centres"] == pytest.approx(first["metrics"]["centres"]["mean"])
    assert [row["seat"] for row in second["by_seat"]][:2] == ["AUSTRIA", "ENGLAND"]
    assert sum(row["episodes"] for row in second["by_seat"]) == 7


def test_eval_by_seat_is_an_option_where_seats_have_no_names(run):
    asked = ("eval", "kuhn", "--player", "TightPassive", "--opponents", "random", "--episodes", 4, "--no-chance")
    assert "by seat, against" not in run(*asked, "--all")[1]
    printed = run(*asked, "--by-seat", "--all")[1]
    assert "TightPassive by seat, against random" in printed
    assert "Figures by seat have no null" in printed


def test_a_tournament_is_a_matrix(run):
    command = ("tournament", "ipd", "--players", "TitForTat", "AlwaysDefect", "--episodes", 2)
    data = json.loads(run(*command, "--no-chance", "--json")[1])
    assert data["players"] == ["ipd/TitForTat", "ipd/AlwaysDefect"]
    assert "random (chance)" in run(*command)[1]
    pays = [[cell["mean"] for cell in row] for row in data["payoff"]]
    assert pays == [[3.0, 0.875], [1.5, 1.0]]
    assert (
        "mean against others"
        in run("tournament", "negotiation-v1", "--players", "Fair", "Selfish", "--episodes", 2, "--no-chance")[1]
    )


def test_sampled_cells_carry_their_error(run):
    printed = run("tournament", "tic-tac-toe", "--players", "mcts:5", "first-legal", "--episodes", 4)[1]
    assert printed.count("±") > 4


def test_a_game_is_verified(run):
    status, printed, _ = run("verify-game", "ipd", "--episodes", 3)
    assert status == 0
    assert "ipd conforms" in printed
    assert any(line.split()[:2] == ["passed", "symmetry"] for line in printed.splitlines())
    assert json.loads(run("verify-game", "kuhn", "--episodes", 3, "--json")[1])["ok"]


def test_prompts_are_shown_with_what_they_share(run):
    shown = run("prompt", "kuhn", "--style", "gtbench", "--turns", 2)[1]
    assert "turn 2" in shown
    assert "shared with the previous prompt" in shown
    assert " tokens, " in run("prompt", "kuhn", "--model", "tiny", "--turns", 2)[1]
    turns = json.loads(run("prompt", "ipd", "--turns", 4, "--json")[1])
    assert [[message["role"] for message in turn] for turn in turns] == [["system", "user"]] * 4


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("games khun", "did you mean kuhn"),
        ("players nope", "There is no game called 'nope'"),
        ("play kuhn --players NashAprox", "did you mean NashApprox"),
        ("play kuhn --players TitForTat random", "There is no player of kuhn called 'TitForTat'"),
        ("play kuhn --players ipd/TitForTat random", "ipd/TitForTat plays ipd"),
        ("play kuhn --players random random random", "takes 2 players, not 3"),
        ("play ipd(round=3) --players random", "no option round; its options are"),
        ("prompt kuhn --model tinny", "tiny"),
        ("prompt kuhn --style plane", "did you mean plain"),
        ("prompt kuhn --style shapellm-base", "for repeated matrix games"),
        ("games matrix", "it needs payoffs"),
        ("play ipd(rounds=0) --players random", "`rounds` of at least 1"),
        ("play ipd(rounds=3 --players random", "opens a bracket"),
        ("play spiel:nope --players random", "nope"),
        ("play diplomacy --players mcts:10", "actions at once"),
        ("play kuhn --players mcts:many random", "mcts:100"),
        ("play kuhn --players table:/nowhere.json random", "/nowhere.json"),
        ("eval sepoo --player random", "did you mean sepo"),
        ("eval kuhn,leduc --player random", "called 'kuhn,leduc': name kuhn and leduc one by one."),
        ("tournament ipd --players TitForTat;Pavlov", "name TitForTat and Pavlov one by one."),
        ("eval kuhn --player random --metric payoff,length", "name payoff and length one by one."),
        ("eval kuhn --player random --metric exploitability", "leave --metric out, --exploitability chooses how."),
        ("eval kuhn,ledu --player random", "did you mean kuhn or leduc"),
        ("train grpo/kuhn --set grpo.iterations 1", "write it as --set grpo.iterations=VALUE."),
        ("eval kuhn --player random --episodes 0", "evaluate needs --episodes of at least 1"),
        ("eval kuhn --player random --metric pool_advantag", "did you mean pool_advantage"),
        ("eval kuhn --player first-legal --disguise 0", "a number of disguises from 1 to 1000, or a file"),
        ("prompt ipd --style shapellm-base --disguised-as 1", "take a prompt style that reads nothing else"),
        ("eval connect-four --player perfect(budget=2000)", "too large"),
        ("tournament ipd --players TitForTat --no-chance", "at least two players"),
        ("tournament spiel:catch --players random first-legal", "has one seat"),
        ("show /nowhere", "no recorded episodes"),
        ("play ipd --players TitForTat --record /dev/null/nowhere", "/dev/null/nowhere cannot be written"),
        ("play ipd --players TitForTat --record /dev/null", "/dev/null cannot be written"),
        ("eval ipd --player TitForTat --record /dev/null/nowhere", "/dev/null/nowhere cannot be written"),
        ("tournament ipd --players TitForTat Pavlov --record /dev/null/nowhere", "/dev/null/nowhere cannot be written"),
        ("eval ipd --player TitForTat --out /", "/ cannot be written: Is a directory."),
        ("tournament ipd --players TitForTat Pavlov --out .", ". cannot be written: Is a directory."),
        ("verify-game nope", "There is no game called 'nope'"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence(run, command, sentence):
    status, printed, said = run(*command.split(" "))
    assert status == 2
    assert printed == ""
    assert sentence in said


def test_tree_beyond_the_budget_is_refused(run, tmp_path, monkeypatch):
    """In a cache of its own: a table that was solved with another budget is read there."""
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    status, printed, said = run("eval", "connect-four", "--player", "cfr:5")
    assert (status, printed) == (2, "")
    assert "beyond the budget" in said
    assert "Traceback" not in said


def test_the_command_of_the_package_runs():
    import subprocess
    import sys
    from pathlib import Path

    command = Path(sys.executable).with_name("stratagem")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("stratagem 0")
    wrong = subprocess.run([command, "games", "nope"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


def test_nothing_is_played_where_nothing_can_be_recorded(run, monkeypatch):
    monkeypatch.setattr("stratagem.api.matches.scheduler.play", lambda *_, **__: pytest.fail("played"))
    assert run("play", "ipd", "--players", "Pavlov", "--record", "/dev/null")[0] == 2


def test_players_of_one_game_are_asked_for_like_games(run):
    assert set(json.loads(run("players", "ipd", "--json")[1])) == {"ipd"}
    assert "Players of ipd" in run("players", "ipd")[1]
    assert run("players", "--game", "ipd")[0] == 2


@pytest.mark.runs
def test_equal_players_do_not_tell_what_can_be_detected(run):
    names = ("--player", "first-legal", "--player", "noise(first-legal, p=0)")
    printed = run("eval", "quiz", *names, "--episodes", 6, "--no-chance", "--exploitability", "exact", "--effort", 2)[1]
    assert "payoff 0.000 ± 0.000, p = 1.0000, minimum detectable difference – (all deals differ alike)" in printed


def test_several_tested_comparisons_are_corrected_together(run, tmp_path):
    names = ("--player", "NashApprox", "--player", "mcts:5", "--player", "AlwaysBet", "--player", "mcts:20")
    command = ("eval", "kuhn", *names, "--opponents", "random", "--episodes", 8)
    printed = run(*command)[1]
    assert printed.count(", Holm p = ") == 2
    assert "minimum detectable difference – (fewer than six deals)" in printed
    assert "for the 2 comparisons of this evaluation: each further player less the first" in printed
    data = json.loads(run(*command, "--json")[1])
    (game,) = data["games"]
    told = game["differences_on_played_deals"]
    assert data["family"]["comparisons"] == ["kuhn: mcts:5", "kuhn: mcts:20"]
    assert {name for name, found in told.items() if found["holm_p"] is None} == {"kuhn/AlwaysBet", "random"}
    tested = sorted((told[name]["p_value"], told[name]["holm_p"]) for name in ("mcts:5", "mcts:20"))
    assert tested[0][1] == pytest.approx(min(1.0, 2 * tested[0][0]))
    assert tested[1][1] == pytest.approx(max(tested[0][1], tested[1][0]))


def test_a_single_comparison_has_nothing_to_be_corrected_for(run):
    names = ("--player", "mcts:5", "--player", "AlwaysBet")
    printed = run("eval", "kuhn", *names, "--opponents", "random", "--episodes", 4)[1]
    assert "p = " in printed
    assert "Holm" not in printed


def test_a_lower_bound_stands_where_nothing_is_exact(run):
    command = ("eval", "tic-tac-toe", "--player", "mcts:2", "--opponents", "random", "--episodes", 2, "--no-chance")
    command += ("--exploitability", "search(deals=4)", "--effort", 12)
    status, printed, _ = run(*command)
    assert status == 0
    assert "≥" in printed
    assert "simulations a decision" in printed
    row = json.loads(run(*command, "--json")[1])["games"][0]["players"][0]
    assert [point["budget"] for point in row["lower_bound"]["curve"]] == [10, 12]
    assert "not_computed" in row["exact"]
    for wrong in (0, -3):
        assert (
            "of at least 1"
            in run("eval", "kuhn", "--player", "random", "--exploitability", "search", "--effort", wrong)[2]
        )
    assert "one seat" in run("eval", "quiz", "--player", "random", "--exploitability", "search")[2]
    assert "no player of kuhn called 'x'" in run("eval", "kuhn", "--player", "random", "--exploitability", "x")[2]


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--exact-budget", "--exploitability exact with --effort"),
        ("--exploit-budget", "--exploitability search or --exploitability learn with --effort"),
        ("--exploit-by", "--exploitability, which takes search, learn or a player"),
        ("--exploit-deals", "--exploitability 'search(deals=20)'"),
        ("--policy-replies", "--exploitability replies with --effort"),
    ],
)
def test_former_option_answers_with_the_present_words(run, option, says):
    status, _, said = run("eval", "kuhn", "--player", "random", option, 3)
    assert status == 2
    assert said.startswith(f"{option} was replaced: ")
    assert says in said


@pytest.mark.parametrize("command", ["eval ipd --player TitForTat", "tournament ipd --players TitForTat Pavlov"])
def test_a_file_that_cannot_be_written_is_refused_before_play(run, monkeypatch, command):
    monkeypatch.setattr("stratagem.measure.matchups.Evaluator.__init__", lambda *_, **__: pytest.fail("it played"))
    status, _, said = run(*command.split(), "--out", "/dev/null/figures.json")
    assert (status, said) == (2, "/dev/null/figures.json cannot be written: Not a directory.")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["play", "kuhn", "--players", "random", "--record", ""], "--record"),
        (["tournament", "kuhn", "--record="], "--record"),
        (["audit", "random", "--games", "kuhn", "--out", ""], "--out"),
        (["eval", "--from", ""], "--from"),
    ],
)
def test_an_empty_path_is_refused_and_nothing_is_written(run, tmp_path, monkeypatch, words, option):
    monkeypatch.chdir(tmp_path)
    assert run(*words) == (2, "", f"{option} needs a path, and its text is empty: name one, or leave it out.")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["kuhn", "--player", "random"], "--player, suite"),
        (["--opponents", "random"], "--opponents"),
        (["--episodes", 7, "--no-chance"], "--episodes, --no-chance"),
        (["--engine", "transformers(rows=2)"], "--engine"),
        (["--workers", 1], "--workers"),
        (["--budget", "3calls", "--tries", 2], "--budget, --tries"),
    ],
)
def test_options_of_play_are_refused_beside_a_record(run, options, named):
    code, _, error = run("eval", "--from", "x", *options)
    assert (code, f"Beside --from leave out what has no effect there: {named}." in error) == (2, True)


def test_a_record_of_plain_play_is_not_told_to_be_resumed(run, tmp_path):
    folder = tmp_path / "record"
    assert run("play", "kuhn(hands=1)", "--players", "random", "--record", folder)[0] == 0
    measured = ("eval", "kuhn(hands=1)", "--player", "random", "--opponents", "random", "--episodes", 2, "--record")
    assert run(*measured, folder)[2] == f"{folder} already holds recorded episodes: choose another folder."
    assert run(*measured, tmp_path / "other")[0] == 0
    assert "choose another folder, or add --resume." in run(*measured, tmp_path / "other")[2]


def test_two_players_of_a_tournament_have_no_deal_in_common(run, tmp_path):
    record = str(tmp_path / "record")
    run("tournament", "kuhn", "--players", "AlwaysBet", "Bluffer", "--no-chance", "--episodes", "4", "--record", record)
    code, text, _ = run("eval", "--from", record)
    assert code == 0
    assert "Bluffer minus AlwaysBet: they have no deal in common" in " ".join(text.split())


def test_a_command_of_an_earlier_release_is_answered_with_the_present_words(run):
    status, printed, said = run("labels", "ipd-shapellm", "--model", "tiny")
    assert (status, printed) == (2, "")
    assert said.startswith("`stratagem labels` was replaced: say `python experiments/label_scan.py`")


@pytest.mark.parametrize(
    "words",
    [["eval", "kuhn", "--player", "random", "--out", "loop"], ["view", "loop"], ["trust", "loop"]],
    ids=" ".join,
)
def test_a_link_to_itself_is_named_in_a_sentence(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    status, out, said = run(*words)
    assert (status, out) == (2, "")
    assert "loop" in said


@pytest.mark.parametrize("folder", ["gone", "gone/deep"])
def test_a_link_that_leads_nowhere_is_named(run, tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gone").symlink_to("missing")
    refused = (2, "", f"{folder} cannot be written: gone is a link that leads nowhere.")
    assert run("play", "kuhn", "--players", "random", "--record", folder) == refused
    assert run("audit", "random", "--games", "kuhn", "--decisions", 214, "--out", folder) == refused


@pytest.mark.parametrize("option", [["--out=~/e.json"], ["--out", "~/e.json"]])
def test_a_tilde_that_the_shell_left_is_the_home_of_the_user(run, tmp_path, monkeypatch, option):
    (home := tmp_path / "home").mkdir()
    (work := tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    assert run("eval", "kuhn", "--player", "random", "--episodes", 1, "--no-chance", *option)[0] == 0
    assert [path.name for path in home.iterdir()] == ["e.json"]
    assert not list(work.iterdir())

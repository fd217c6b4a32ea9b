"""Audits over drawn games: known values, limits over games, the seed of a nonce, and what is refused."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stratagem.api.audits import audit
from stratagem.api.evaluations import evaluate
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.games import Key, make_game
from stratagem.games.drawn.distribution import GameDistribution
from stratagem.games.drawn.solution import scale_form, solve_drawn
from stratagem.measure.audit.card import Card, read_card
from stratagem.measure.audit.plan import AuditPlan, plan_audit
from stratagem.measure.audit.probes.draws import LEAST_RANDOM, draw_audited
from stratagem.measure.audit.run import run_audit
from stratagem.measure.audit.seed_origin import SeedOrigin
from stratagem.measure.sampled.drawn import ReplySource
from stratagem.measure.sampled.gain import ResponseGain
from stratagem.measure.sampled.limits import certain_limits
from stratagem.measure.sampled.over_games import (
    AskedGame,
    GameShare,
    RatioLimits,
    difference,
    measure_games,
    p_of_known,
    ratio_in_games,
    ratio_over_games,
    scale_gain,
    share_of,
    worst_game,
)
from stratagem.measure.sampled.questions import questions_of
from stratagem.measure.sampled.tally import frequencies
from stratagem.measure.statistics import Estimate, exactly, with_interval
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.catalogue import make_player
from stratagem.show.audit.page import card_page
from stratagem.verifier.card_check import CardCheck
from stratagem.verifier.drawn_games import check_draws

GAMES = "draws(matrix, 5)"
NONCE = "2f1c9a0be4d37786"
pytestmark = pytest.mark.usefixtures("small_known_games")


def gain_in(text: str) -> ResponseGain:
    game = make_game(text)
    oracle = oracle_of(game)
    return ResponseGain(oracle, questions_of(oracle.tree, make_player("random", game)))


@pytest.fixture(scope="module")
def shares() -> list[GameShare]:
    """Shares of the player that always takes the first action, which are exact."""
    found = []
    for one in draw_audited(GameDistribution("matrix", 5)):
        gain = scale_gain(gain_in(one.name))
        first = np.zeros(int(gain.questions.slots[-1]))
        first[gain.questions.slots[:-1]] = 1.0
        limits = certain_limits(gain, ReplySource(gain.questions, first, Key(0)))
        found.append(share_of(limits, one.draw.worth.random.exploitability, limits.upper))
    return found


def with_value(share: GameShare, value: float) -> GameShare:
    exact = Estimate(value)
    return replace(share, value=value, limits=replace(share.limits, judged=exact, gain=exact, lower=value, upper=value))


def test_random_play_has_ratio_one_and_the_solution_has_ratio_zero(shares: list[GameShare]) -> None:
    random = ratio_over_games([with_value(one, one.random) for one in shares], Key(0))
    assert random == pytest.approx((1.0, 1.0, 1.0))
    assert ratio_over_games([with_value(one, 0.0) for one in shares], Key(0)) == (0.0, 0.0, 0.0)


def test_ratio_is_a_ratio_of_sums(shares: list[GameShare]) -> None:
    expected = sum(one.value for one in shares) / sum(one.random for one in shares)
    found = ratio_over_games(shares, Key(0))
    assert found.value == pytest.approx(expected)
    assert found.lower < expected < found.upper
    assert ratio_in_games(shares) == pytest.approx((expected, expected, expected))


def test_scaled_gain_is_the_share_of_the_acceptance() -> None:
    for one in draw_audited(GameDistribution("matrix", 5)):
        gain = scale_gain(gain_in(one.name))
        even = frequencies(gain.questions, np.zeros(int(gain.questions.slots[-1])))
        exploitability, _ = gain(even, gain.best_responses(even))
        assert exploitability == pytest.approx(one.draw.worth.random.exploitability)
        assert exploitability >= LEAST_RANDOM


def test_scaled_gain_keeps_its_derivative() -> None:
    gain = scale_gain(gain_in("kuhn"))
    rows = np.random.default_rng(3).random(int(gain.questions.slots[-1]))
    rows /= gain.questions.spread(gain.questions.sums(rows))
    step = np.random.default_rng(4).normal(size=len(rows)) * 1e-6
    value, slopes = gain(rows, responses := gain.best_responses(rows))
    assert gain(rows + step, responses)[0] - value == pytest.approx(float(slopes @ step), rel=1e-3)


def test_worst_game_has_the_highest_limit_after_correction(shares: list[GameShare]) -> None:
    loud = replace(shares[1], limits=replace(shares[1].limits, judged=Estimate(0.9, 0.4, 10)))
    sure = replace(shares[3], limits=replace(shares[3].limits, judged=Estimate(0.8, 0.01, 10)))
    number, lower = worst_game([with_value(shares[0], 0.1), loud, with_value(shares[2], 0.1), sure])
    assert number == 3
    assert 0.8 - 0.0225 < lower < 0.8 - 0.0223  # 2.24 standard errors: 95 % over four games


def test_known_games_are_one_choice_among_all(shares: list[GameShare]) -> None:
    drawn = [with_value(one, 0.5 * one.random) for one in shares]
    memorised, alike = ([with_value(one, share * one.random) for one in shares[:2]] for share in (0.1, 0.5))
    assert p_of_known(drawn, memorised) == pytest.approx(1 / 21)  # of 7 games 21 pairs
    assert p_of_known(drawn, alike) == 1.0


def test_difference_of_exact_ratios_is_exact() -> None:
    assert difference(RatioLimits(0.7, 0.7, 0.7), RatioLimits(0.2, 0.2, 0.2)) == pytest.approx((0.5, 0.5, 0.5))
    wide = difference(RatioLimits(0.7, 0.4, 0.9), RatioLimits(0.2, 0.1, 0.6))
    assert wide == pytest.approx((0.5, 0.5 - 0.5, 0.5 + np.hypot(0.2, 0.1)))


def test_replies_of_all_games_are_shared_by_use(shares: list[GameShare]) -> None:
    """A game in which the player is sure gets few replies, and the number of all is that of the plan."""
    asked = []
    for number, one in enumerate(draw_audited(GameDistribution("matrix", 2))):
        gain = scale_gain(gain_in(one.name))
        even = frequencies(gain.questions, np.zeros(int(gain.questions.slots[-1])))
        first = np.zeros(len(even))
        first[gain.questions.slots[:-1]] = 1.0
        source = ReplySource(gain.questions, first if number else even, Key(number))
        asked.append(AskedGame(gain, source, 0.1, 0.5))
    found = measure_games(asked, 2000, Key(0))
    totals = [int(one.limits.tally.counts.sum()) for one in found]
    assert sum(totals) == 2000
    means = [total / len(one.gain.questions) for total, one in zip(totals, asked, strict=True)]
    assert means[0] > 1.3 * means[1]


@pytest.fixture(scope="module")
def random_audit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Card]:
    out = tmp_path_factory.mktemp("draws") / "random"
    return out, run_audit(plan_audit("random", [GAMES], 1500), out)


def test_card_covers_random_play(random_audit: tuple[Path, Card]) -> None:
    _, card = random_audit
    for quantity in ("exploitability_ratio", "known_ratio"):
        figure = card.by_name[f"{GAMES}.{quantity}"]
        assert figure.lower is not None
        assert figure.upper is not None
        assert figure.lower <= 1.0 <= figure.upper
        assert figure.chance == 1.0
    gap = card.by_name[f"{GAMES}.unseen_gap"]
    assert gap.lower is not None
    assert gap.upper is not None
    assert gap.lower < 0.0 < gap.upper
    assert not card.alarms
    assert "the first action always" in gap.method


def test_card_has_each_game_with_its_digest(
    random_audit: tuple[Path, Card], small_known_games: tuple[str, ...]
) -> None:
    out, card = random_audit
    rows = card.draws["games"][GAMES]
    assert [row["game"] for row in rows] == [
        *(one.name for one in draw_audited(GameDistribution("matrix", 5))),
        *small_known_games,
    ]
    assert sum(row["replies"] for row in rows) == 1500
    assert card.cost.decisions == 1500  # seats that nobody holds count for nothing, where both choose at once
    assert read_card(out) == card
    assert all(row["game"] in card_page(card) for row in rows[-2:])


@pytest.mark.parametrize("agent", ["GameSolution", "SolutionResponse"])
def test_player_of_drawn_games_alone_is_audited_without_known_ones(agent: str, tmp_path: Path) -> None:
    card = run_audit(plan_audit(agent, [GAMES], 270), tmp_path / "audit")
    assert [row["game"] for row in card.draws["games"][GAMES]] == [
        *(n.name for n in GameDistribution("matrix", 5).games(least_random=LEAST_RANDOM))
    ]
    assert card.by_name[f"{GAMES}.exploitability_ratio"].lower is not None
    for quantity in ("known_ratio", "unseen_gap"):
        figure = card.by_name[f"{GAMES}.{quantity}"]
        assert figure.value is figure.lower is figure.p is None
        assert (
            figure.why_not == f"drawn/{agent} plays drawn games and not kuhn, so there is nothing to set beside them."
        )
    assert all(check.agreement != "differs" for check in CardCheck(tmp_path / "audit").checks())


def test_audit_asks_in_the_wording_that_is_named(tmp_path: Path) -> None:
    games = GAMES.replace(")", ", wording=2)")
    card = run_audit(plan_audit("GameSolution", [games], 270), tmp_path / "audit")
    rows = card.draws["games"][games]
    own = draw_audited(GameDistribution("matrix", 5))
    assert [(row["game"], row["digest"]) for row in rows] == [
        (one.name.replace(")", ", wording=2)"), one.draw.digest) for one in own
    ]
    assert all(" as one of two players.\n" in make_game(row["game"]).rules(0) for row in rows)
    assert all(check.agreement != "differs" for check in CardCheck(tmp_path / "audit").checks())


def test_own_seed_is_marked(random_audit: tuple[Path, Card]) -> None:
    _, card = random_audit
    assert card.draws["seed_from"] == "own choice"
    assert "own choice" in card.notes[0]


def test_verifier_draws_the_games_again(random_audit: tuple[Path, Card], tmp_path: Path) -> None:
    out, _ = random_audit
    assert all(check.agreement != "differs" for check in CardCheck(out).checks())
    data = json.loads((out / "card.json").read_text())
    assert check_draws(data, GAMES).agreement == "agrees"
    other = {**data, "draws": {**data["draws"], "seed": 1}}
    assert check_draws(other, GAMES).detail == "The seed of the card draws other games."
    bound = {"nonce": NONCE, "seed_from": "nonce", "identity_bound": True}
    forged = {**data, "draws": {**data["draws"], **bound}}
    assert check_draws(forged, GAMES).detail == "The seed is not that of the digest and the nonce."
    emptied = {**data, "draws": {**data["draws"], "games": {}}}
    assert check_draws(emptied, GAMES).detail == "The seed of the card draws other games."


def test_stopped_audit_asks_nothing_twice(random_audit: tuple[Path, Card]) -> None:
    out, card = random_audit
    (out / "card.json").unlink()
    asked: list[int] = []
    again = run_audit(plan_audit("random", [GAMES], 1500), out, progress=lambda done, *_: asked.append(done))
    assert again.figures == card.figures
    assert max(asked) == 0


def nonce_file(folder: Path, text: str = NONCE) -> Path:
    file = folder / "nonce.txt"
    file.write_text(text + "\n")
    return file


def test_nonce_decides_the_games(tmp_path: Path) -> None:
    file = nonce_file(tmp_path)
    origins = [SeedOrigin.of_nonce(agent, file) for agent in ("random", "random", "cfr:10")]
    assert origins[0] == origins[1]
    assert origins[0].seed != origins[2].seed
    assert origins[0].commitment == hashlib.sha256(file.read_bytes()).hexdigest()
    assert origins[0].bound
    other = SeedOrigin.of_nonce("random", nonce_file(tmp_path, NONCE[::-1]))
    assert other.seed != origins[0].seed
    plan = plan_audit("random", [GAMES], 1500, nonce=nonce_file(tmp_path))
    (step,) = plan.steps
    assert step.draws is not None
    assert step.draws.seed == origins[0].seed
    assert plan.to_json()["draws"]["nonce"] == NONCE


def test_endpoint_is_not_bound(tmp_path: Path) -> None:
    origin = SeedOrigin.of_nonce("api:some-model@http://localhost:9/v1", nonce_file(tmp_path))
    assert not origin.bound
    assert "cannot be bound" in [*origin.sentences()][1]


def test_baseline_is_asked_in_the_same_games(tmp_path: Path) -> None:
    plan = plan_audit("random", [GAMES], 1500, against="noise(random, p=0.5)", nonce=nonce_file(tmp_path))
    assert plan.baseline is not None
    assert plan.baseline.steps[0].draws == plan.steps[0].draws


def plan_of(games: list[str], **options: object) -> AuditPlan:
    return plan_audit("random", games, **{"decisions": 1500, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("games", "sentence"),
    [
        (["draws(chess, 5)"], "chess"),
        (["draws(matrix, 0)"], "`count` of at least 1"),
        (["draws(matrix, 3)"], "Limits over games need at least 5"),
        ([GAMES, GAMES], "is there twice"),
        ([GAMES, "draws(dice, 5, seed=2)"], "have one seed"),
    ],
)
def test_wrong_games_are_one_sentence(games: list[str], sentence: str) -> None:
    with pytest.raises(StratagemError, match=sentence):
        plan_of(games)


def test_few_decisions_are_one_sentence() -> None:
    with pytest.raises(BadParameter, match="situations to ask about, 2 times each, and 100 decisions are planned"):
        plan_of([GAMES], decisions=100)


def test_wrong_nonces_are_one_sentence(tmp_path: Path) -> None:
    file = nonce_file(tmp_path)
    with pytest.raises(BadParameter, match="this audit has none: add draws"):
        plan_of(["kuhn"], nonce=file)
    with pytest.raises(BadParameter, match="leave `seed` out of"):
        plan_of(["draws(matrix, 5, seed=2)"], nonce=file)
    with pytest.raises(BadParameter, match="at least 16"):
        plan_of([GAMES], nonce=nonce_file(tmp_path, "short"))
    with pytest.raises(BadParameter, match="cannot be read"):
        plan_of([GAMES], nonce=tmp_path / "none.txt")
    with pytest.raises(BadParameter, match="write one line"):
        plan_of([GAMES], nonce=nonce_file(tmp_path, f" {NONCE}"))


def test_command_writes_the_origin(tmp_path: Path) -> None:
    found = audit("random", games=GAMES, decisions=600, nonce=nonce_file(tmp_path), out=tmp_path / "a", progress=False)
    data = json.loads((tmp_path / "a" / "card.json").read_text())
    assert data["draws"]["identity_bound"] is True
    assert check_draws(data, GAMES).agreement == "agrees"
    forged = {**data, "draws": {**data["draws"], "commitment": "0" * 64}}
    assert check_draws(forged, GAMES).detail == "The SHA-256 of the card is not that of its nonce."
    assert found.card.figures[0].value is None  # fewer than 8 replies a situation
    assert found.first_lines()[0].startswith(f"{GAMES}: over games that nobody has seen")


@pytest.mark.long
def test_limits_cover_the_family() -> None:
    """Each audit draws 8 of 60 games anew; the limits hold for the ratio over the family in 95 % of them."""
    pool = []
    for one in GameDistribution("matrix", 60).games(least_random=LEAST_RANDOM):
        gain = scale_gain(gain_in(one.name))
        even = frequencies(gain.questions, np.zeros(int(gain.questions.slots[-1])))
        first = np.zeros(len(even))
        first[gain.questions.slots[:-1]] = 1.0
        rows = 0.5 * even + 0.5 * first
        pool.append((gain, rows, one.draw.worth.random.exploitability, gain(rows, gain.best_responses(rows))[0]))
    truth = sum(row[3] for row in pool) / sum(row[2] for row in pool)
    generator, hits = np.random.default_rng(0), [0, 0]
    for trial in range(100):
        chosen = [pool[number] for number in generator.choice(len(pool), 8)]
        asked = [
            AskedGame(gain, ReplySource(gain.questions, rows, Key(trial).at(number)), random, 1.0)
            for number, (gain, rows, random, _) in enumerate(chosen)
        ]
        replies = 20 * sum(len(one.gain.questions) for one in asked)
        found = ratio_over_games(measure_games(asked, replies, Key(trial)), Key(trial))
        hits[0] += found.lower <= truth
        hits[1] += found.upper >= truth
    assert min(hits) >= 90


@pytest.mark.long
def test_equilibrium_has_a_low_ratio() -> None:
    card = run_audit(plan_audit("cfr:1000", ["draws(cards, 5)"], 60_000))
    figure = card.by_name["draws(cards, 5).exploitability_ratio"]
    assert figure.lower == pytest.approx(0.0, abs=0.02)
    assert figure.value is not None
    assert figure.value < 0.3


def test_policies_of_drawn_players_are_solutions() -> None:
    game = make_game("drawn(seed=1, family=matrix)")
    tree = oracle_of(game).tree
    scaled = scale_form(tree)
    assert np.allclose(policy_on(tree, make_player("GameSolution", game)), solve_drawn(tree).policy)
    response = scaled.form.plans(policy_on(tree, make_player("SolutionResponse", game)))
    solved = scaled.form.plans(solve_drawn(tree).policy)
    for seat, figures in enumerate(scaled.all_figures(solve_drawn(tree).policy)):
        plans = [*solved[:seat], response[seat], *solved[seat + 1 :]]
        assert scaled.form.value(plans, seat) == pytest.approx(figures.value + figures.gain)


def test_evaluation_has_a_table_over_drawn_games() -> None:
    """Each game is a sample: the limits are those of the games' own figures, and random play has ratio 1."""
    found = evaluate("draws(matrix, 3)", ["random"], episodes=2, opponents=["random"], progress=False)
    table = found.tables()[0]
    assert table.title == "draws(matrix, 3): over 3 drawn games, each a sample"
    (row,) = table.rows
    wins = [result.rows[0].metrics["win rate"] for result in found.results]
    expected = with_interval([win.mean for win in wins if win is not None])
    assert row.values[1] == expected
    assert row.values[-1] == exactly(1.0)

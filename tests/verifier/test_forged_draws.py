"""Forgeries of an audit over draws: figures, games, replies and the origin of the seed, each found by the verifier."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stratagem.base.provenance import provenance
from stratagem.games.base import View
from stratagem.games.kuhn.players import NashApprox
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.probes import draws
from stratagem.measure.audit.run import run_audit
from stratagem.measure.audit.seed_origin import SeedOrigin, check_identity
from stratagem.players.base import Scripted, Traits
from stratagem.verifier.card_check import CardCheck
from stratagem.verifier.drawn_games import check_draws, faults_of_origin
from stratagem.verifier.figure_check import FigureCheck

GAMES = "draws(matrix, 5)"
FIGURES = ("exploitability_ratio", "exploitability_share", "worst_share", "known_ratio", "unseen_gap")
NONCE = "2f1c9a0be4d37786"
pytestmark = pytest.mark.usefixtures("small_known_games")


@dataclass(frozen=True)
class Memoriser(Scripted[Any]):
    """Plays an equilibrium of kuhn, and elsewhere mostly the last action."""

    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None)

    def strategy(self, view: View[Any]) -> Mapping[str, float]:
        if view.game.spec.name == "kuhn":
            return NashApprox().strategy(view)
        actions = [*view.choices]
        rest = dict.fromkeys(actions, 0.1 / len(actions))
        return {**rest, actions[-1]: rest[actions[-1]] + 0.9}


@dataclass(frozen=True)
class Careless(Memoriser):
    """Plays mostly the last action in every game, so it has an exploitability in the known games, too."""

    def strategy(self, view: View[Any]) -> Mapping[str, float]:
        last = view.choices.count - 1
        return {action: 0.1 / (last + 1) + 0.9 * (place == last) for place, action in enumerate(view.choices)}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit of an agent that knows kuhn by heart, with enough replies for points."""
    out = tmp_path_factory.mktemp("draws") / "honest"
    run_audit(plan_audit(Memoriser(), [GAMES], 1400), out)
    return out


Change = Callable[[dict[str, Any], dict[str, dict[str, Any]]], object]


@pytest.fixture
def forge(honest: Path, tmp_path: Path) -> Callable[[Change], dict[str, FigureCheck]]:
    """Function that changes the card, and returns the checks that differ by name."""

    def change_card(change: Change) -> dict[str, FigureCheck]:
        card = json.loads((honest / "card.json").read_text())
        change(card, {figure["name"].removeprefix(f"{GAMES}."): figure for figure in card["figures"]})
        (tmp_path / "card.json").write_text(json.dumps(card))
        if not (tmp_path / "records").exists():
            (tmp_path / "records").symlink_to(honest / "records")
            shutil.copy(honest / "evaluation.json", tmp_path)
        return {check.name: check for check in CardCheck(tmp_path).checks() if check.agreement == "differs"}

    return change_card


def test_an_honest_card_over_draws_is_recomputed(honest: Path, small_known_games: tuple[str, ...]) -> None:
    checks = {check.name: check for check in CardCheck(honest).checks()}
    assert {name for name, one in checks.items() if one.agreement == "not recomputed"} == {"requests", "texts"}
    assert not [one for one in checks.values() if one.agreement == "differs"]
    assert {f"{GAMES}.{quantity}" for quantity in FIGURES} <= checks.keys()
    assert sum(name.startswith(f"{GAMES}: drawn(") for name in checks) == 5
    gap = CardCheck(honest).figures[f"{GAMES}.unseen_gap"]
    assert gap["lower"] > 0.0
    assert gap["p"] == pytest.approx(1 / 21)  # of 7 games 21 pairs
    assert gap["alarm"]
    for text in small_known_games:
        known = checks[f"{GAMES}: {text}"]
        assert known.card == pytest.approx(known.recomputed)


@pytest.mark.parametrize("part", ["value", "lower", "upper", "n", "chance", "p"])
def test_a_changed_figure_over_draws_is_found(forge: Callable[[Change], dict[str, FigureCheck]], part: str) -> None:
    changed = set[str]()

    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        for quantity, figure in figures.items():
            if figure[part] is not None:
                figure[part] *= 1.25 if part != "n" else 2
                figure[part] += 0.01 * (part != "n")
                changed.add(f"{GAMES}.{quantity}")

    found = forge(change)
    assert changed
    assert changed <= found.keys()
    assert all(re.search(rf"`(holm_)?{part}` is", found[name].detail) for name in changed)


def test_a_changed_row_of_a_game_is_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    """Each game of the card gets another false column."""
    columns = ("situations", "replies", "illegal", "random", "value", "lower", "upper")
    names = dict[str, str]()

    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        for row, column in zip(card["draws"]["games"][GAMES], columns, strict=True):
            row[column] = 1 if row[column] is None else row[column] + (1 if isinstance(row[column], int) else 0.01)
            names[f"{GAMES}: {row['game']}"] = column

    found = forge(change)
    for name, column in names.items():
        assert f"`{column}` is" in found[name].detail


def test_another_worst_game_and_other_moves_are_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        (worst,) = card["strategies"]
        other = next(row["game"] for row in card["draws"]["games"][GAMES] if row["game"] != worst)
        figures["worst_share"]["method"] = figures["worst_share"]["method"].replace(worst, other)
        card["strategies"][worst][0]["action"] = "SIP"

    found = forge(change)
    assert "as the worst" in found[f"{GAMES}.worst_share"].detail
    assert "exploiting moves" in found[f"{GAMES}: strategy"].detail


def test_a_hidden_alarm_and_a_false_null_of_the_gap_are_found(
    forge: Callable[[Change], dict[str, FigureCheck]],
) -> None:
    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        method = figures["unseen_gap"]["method"]
        figures["unseen_gap"]["method"] = re.sub(r"always (-?[0-9.]+),", "always 0.123,", method)
        figures["exploitability_ratio"]["certain"] = True
        figures["unseen_gap"]["alarm"] = False
        card["seed"] = 1

    found = forge(change)
    assert "The gap of the first action is" in found[f"{GAMES}.unseen_gap"].detail
    assert "`certain` is True" in found[f"{GAMES}.exploitability_ratio"].detail
    assert "was not drawn by the seed" in found[f"{GAMES}: record of draws"].detail


def test_a_figure_over_draws_that_was_taken_out_is_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    found = forge(lambda card, figures: card["figures"].remove(figures["known_ratio"]))
    assert found[f"{GAMES}.known_ratio"].detail == "The card lacks this figure."


def test_known_games_that_were_taken_out_are_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    """Also where the card says that the agent cannot play them: the record has replies in them."""

    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        del card["draws"]["games"][GAMES][5:]
        for quantity in ("known_ratio", "unseen_gap"):
            figures[quantity] |= dict.fromkeys(("value", "lower", "upper", "p", "holm_p")) | {"why_not": "It cannot."}

    found = forge(change)
    assert "which is no game of the card" in found[f"{GAMES}: record of draws"].detail


def empty_figures(figures: dict[str, dict[str, Any]], **values: float) -> None:
    for figure in figures.values():
        figure |= dict.fromkeys(("value", "lower", "upper", "p", "holm_p")) | {"alarm": False} | values


def test_values_without_games_are_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    """A card without a lower limit and without rows had nothing that was compared."""

    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        card["draws"]["games"] = card["strategies"] = {}
        empty_figures(figures, value=0.001, upper=0.002)

    found = forge(change)
    assert "no game that was asked about" in found[f"{GAMES}: record of draws"].detail
    assert {f"{GAMES}.{quantity}" for quantity in FIGURES} <= found.keys()


def test_figures_that_were_emptied_with_their_games_are_found(
    forge: Callable[[Change], dict[str, FigureCheck]],
) -> None:
    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        card["draws"]["games"] = card["strategies"] = {}
        empty_figures(figures)

    assert f"{GAMES}: record of draws" in forge(change)


def test_a_false_reason_for_no_value_is_found(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        for quantity in ("exploitability_ratio", "unseen_gap"):
            empty_figures({quantity: figures[quantity]})
            figures[quantity]["why_not"] = "It cannot."

    found = forge(change)
    for quantity in ("exploitability_ratio", "unseen_gap"):
        assert "The record has what it needs" in found[f"{GAMES}.{quantity}"].detail


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda card, figures: card["figures"].insert(0, {**figures["unseen_gap"], "value": -0.5}), "more than once"),
        (
            lambda card, figures: card["draws"]["games"].update({"draws(cards, 5)": [{"game": "kuhn"}]}),
            "drawn games of",
        ),
        (lambda card, figures: card["strategies"].update(leduc=[{"seat": 0}]), "exploiting moves in leduc"),
    ],
)
def test_parts_of_no_game_of_the_audit_are_found(
    forge: Callable[[Change], dict[str, FigureCheck]], change: Change, sentence: str
) -> None:
    assert sentence in forge(change)["plan"].detail


def test_moves_in_a_drawn_game_that_is_not_the_worst_are_found(
    forge: Callable[[Change], dict[str, FigureCheck]],
) -> None:
    def change(card: dict[str, Any], figures: dict[str, dict[str, Any]]) -> None:
        other = next(row["game"] for row in card["draws"]["games"][GAMES] if row["game"] not in card["strategies"])
        card["strategies"][other] = [{"seat": 0, "situation": "any", "action": "any"}]

    assert "exploiting moves" in forge(change)[f"{GAMES}: strategy"].detail


def test_draws_that_were_not_measured_leave_the_other_games_verified(tmp_path: Path) -> None:
    """Three games are too few for limits; a value beside them is false."""
    run_audit(plan_audit("random", ["kuhn(hands=1)", "draws(matrix, 3)"], 400), tmp_path / "few")
    assert not [one for one in CardCheck(tmp_path / "few").checks() if one.agreement == "differs"]
    path = tmp_path / "few" / "card.json"
    card = json.loads(path.read_text())
    false = {**card["figures"][0], "name": "draws(matrix, 3).worst_share", "value": 0.1}
    path.write_text(json.dumps({**card, "figures": [*card["figures"], false]}))
    found = {one.name: one for one in CardCheck(tmp_path / "few").checks() if one.agreement == "differs"}
    assert "asked in no drawn game" in found["draws(matrix, 3).worst_share"].detail


def test_limits_in_known_games_are_recomputed_where_the_lower_one_is_above_zero(tmp_path: Path) -> None:
    run_audit(plan_audit(Careless(), [GAMES], 1400), tmp_path / "careless")
    checks = {check.name: check for check in CardCheck(tmp_path / "careless").checks()}
    assert not [one for one in checks.values() if one.agreement == "differs"]
    card = json.loads((tmp_path / "careless" / "card.json").read_text())
    (known,) = (figure for figure in card["figures"] if figure["name"] == f"{GAMES}.known_ratio")
    assert 0.5 < known["lower"] < known["value"] < known["upper"] < 1.0


def test_moves_in_a_known_game_are_judged_by_its_own_audit(forge: Callable[[Change], dict[str, FigureCheck]]) -> None:
    """Kuhn may be audited beside the draws, by other replies; here it is not."""
    found = forge(lambda card, figures: card["strategies"].update(kuhn=[{"seat": 0}]))
    assert f"{GAMES}: strategy" not in found
    assert "exploiting moves in kuhn" in found["plan"].detail


def test_a_baseline_in_other_drawn_games_is_found(tmp_path: Path) -> None:
    for folder, seed in ((tmp_path, 0), (tmp_path / "against", 1)):
        folder.mkdir(exist_ok=True)
        card = {"agent": "random", "games": [], "probes": {}, "figures": [], "seed": 0, "draws": {"seed": seed}}
        (folder / "card.json").write_text(json.dumps({**card, "baseline": None if seed else "random"}))
    found = [check for check in CardCheck(tmp_path).checks() if check.name == "baseline"]
    assert "has other drawn games" in found[0].detail


def test_known_games_that_the_agent_plays_are_missed() -> None:
    rows = [{"game": "drawn(seed=1, family='matrix')", "digest": "1"}]
    card = {"draws": {"games": {GAMES: rows}}}
    fault = draws.check_known_games("random", card)
    assert fault is not None
    assert "random plays kuhn" in fault.detail
    assert draws.check_known_games("GameSolution", card) is None
    assert draws.check_known_games("random", {"draws": {"games": {GAMES: [*rows, {"digest": ""}]}}}) is None


def forge_rows(folder: Path, table: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    for path in sorted((folder / "records").glob(f"*/{table}/*.parquet")):
        read = pq.read_table(path)
        rows = pa.Table.from_pylist(change(read.to_pylist()), schema=read.schema)
        pq.write_table(rows, path, compression="zstd", write_page_checksum=True)


def test_changed_and_missing_replies_are_found(honest: Path, tmp_path: Path) -> None:
    """One game loses the last reply to a question, and in another the replies to one are turned round."""
    at = Path(shutil.copytree(honest, tmp_path / "forged"))
    rows = json.loads((at / "card.json").read_text())["draws"]["games"][GAMES]
    first, second = rows[0]["game"], "kuhn(hands=1)"
    names = sorted((at / "records").glob("*/episodes/*.parquet"))
    ids = [one for path in names for one in pq.read_table(path)["id"].to_pylist() if one.startswith(f"{first}/ask/")]
    last = max((one for one in ids if one.split("/")[-2] == "0"), key=lambda one: int(one.split("/")[-1]))

    def turn(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in some:
            if row["episode"].startswith(f"{second}/ask/") and row["info_key"] == "J:" and row["slot"] == 0:
                row["action"] = {"BET": "PASS", "PASS": "BET"}[row["action"]]
        return [row for row in some if row["episode"] != last]

    forge_rows(at, "decisions", turn)
    forge_rows(at, "episodes", lambda some: [row for row in some if row["id"] != last])
    found = {check.name: check for check in CardCheck(at).checks() if check.agreement == "differs"}
    assert "The record has 1399 replies" in found[f"{GAMES}: record of draws"].detail
    assert "`replies` is" in found[f"{GAMES}: {first}"].detail
    assert f"{GAMES}: {second}" in found
    assert "cost" in found


def origin_of(agent: str, folder: Path) -> dict[str, Any]:
    (folder / "nonce.txt").write_text(NONCE + "\n")
    return SeedOrigin.of_nonce(agent, folder / "nonce.txt").to_json()


def card_of(origin: dict[str, Any], agent: str = "random") -> dict[str, Any]:
    """Card whose origin is refused before any game is drawn."""
    return {"agent": agent, "games": ["kuhn"], "figures": [], "draws": {**origin, "games": {}}, "made_by": provenance()}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed_from": "own choice"}, "of another origin"),
        ({"identity_bound": False}, "of which its digest does not hold all"),
        ({"unseen": ["what plays"]}, "of which its digest does not hold all"),
        ({"agent_digest": "0" * 32}, "not that of the digest and the nonce"),
        ({"nonce": "", "seed_from": "own choice", "identity_bound": False}, "and no nonce"),
    ],
)
def test_a_changed_origin_is_found(tmp_path: Path, change: dict[str, Any], sentence: str) -> None:
    card = card_of(origin_of("random", tmp_path))
    assert not [*faults_of_origin(card["draws"], "random")]
    found = check_draws({**card, "draws": {**card["draws"], **change}}, GAMES)
    assert found.agreement == "differs"
    assert sentence in found.detail


def test_a_server_that_is_said_to_be_bound_is_found(tmp_path: Path) -> None:
    card = card_of(origin_of("random", tmp_path), agent="noise(api:m@http://localhost:9/v1, p=0.1)")
    assert "cannot be bound" in check_draws(card, GAMES).detail


def test_other_known_rows_are_found(honest: Path) -> None:
    card = json.loads((honest / "card.json").read_text())
    card["draws"]["games"][GAMES][-1]["game"] = "leduc"
    assert "must have kuhn and kuhn(hands=1)" in check_draws(card, GAMES).detail


def test_a_seed_that_was_tried_out_is_found(tmp_path: Path) -> None:
    """The digest of another agent makes another seed, and fits together with it."""
    honest, tried = (origin_of(agent, tmp_path) for agent in ("random", "cfr:10"))
    assert not [*faults_of_origin(tried, "random")]
    assert check_identity("random", card_of(honest)).agreement == "agrees"
    assert "The digest of random is" in check_identity("random", card_of(tried)).detail
    later = {**card_of(tried), "made_by": {**provenance(), "stratagem": "0.1"}}
    assert check_identity("random", later).agreement == "not recomputed"


def test_the_seed_of_another_agent_is_found(tmp_path: Path) -> None:
    """The digest fits the agent of the plan, which is not the agent of the card."""
    tried = card_of(origin_of("cfr:10", tmp_path), agent="random")
    assert "The digest is of cfr:10, and the card of random" in check_identity("cfr:10", tried).detail
    assert check_identity("cfr:10", {**tried, "agent": "cfr:10"}).agreement == "agrees"


def test_the_identity_of_a_server_inside_a_player_is_not_bound(tmp_path: Path) -> None:
    agent = "noise(api:some-model@http://localhost:9/v1, p=0.1)"
    origin = origin_of(agent, tmp_path)
    assert not origin["identity_bound"]
    hidden = {**origin, "unseen": [], "identity_bound": True}
    assert "does not hold: what answers at" in check_identity(agent, card_of(hidden, agent)).detail


def test_a_player_of_drawn_games_is_known_by_its_name_alone(tmp_path: Path) -> None:
    origin = origin_of("GameSolution", tmp_path)
    assert not origin["identity_bound"]
    assert check_identity("GameSolution", card_of(origin, "GameSolution")).agreement == "agrees"
    assert check_identity("SolutionResponse", card_of(origin, "SolutionResponse")).agreement == "differs"


def test_a_player_of_known_games_is_not_known_by_its_name_alone(tmp_path: Path) -> None:
    unseen, digest = origin_of("GameSolution", tmp_path)["unseen"], hashlib.sha256(b"random").hexdigest()[:32]
    card = card_of({**origin_of("random", tmp_path), "agent_digest": digest, "unseen": unseen})
    assert "The digest of random is" in check_identity("random", card).detail

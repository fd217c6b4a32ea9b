"""Runs as SEPO leaves them, made without any training: some whole, some just begun, some with hostile texts in them."""

import json
import math
from functools import cache

from pydantic import ConfigDict

from stratagem.base.settings import Settings
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.kuhn.players import NashApprox
from stratagem.language.engines.base import Call, PolicyId, Prompt, Span
from stratagem.measure.equilibria import kuhn_family
from stratagem.measure.evaluate import evaluate
from stratagem.measure.matchups import Evaluator
from stratagem.measure.report import evaluation_json
from stratagem.measure.suites import find_suite
from stratagem.players.base import Move
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import write_shard
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import MetricLog

STAGES = {
    "LooseAggressive": "Base",
    "TightValue": "SFT",
    "NashApprox": "SEPO (step 8)",
    "PotControl": "SEPO, last (step 20)",
}
ROWS = {f"kuhn/{name}": stage for name, stage in STAGES.items()}
START, CHOSEN, LAST = 50, 58, 70
TERMS = {"payoff": 0.6, "exploit": -0.3}
HOSTILE = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>\u202eesrever\u0007\u2028 & <b>"


class Recipe(Settings):
    """Any recipe."""

    model_config = ConfigDict(extra="allow")

    algorithm: str = "sepo"
    game: str = "kuhn"
    model: str = "tiny"


class Talker:
    """Plays the first legal action in the words that it is given."""

    def __init__(self, words):
        self.words = words
        self.name = "policy"
        self.traits = NashApprox.traits

    def turn(self, ask):
        return Move(ask.view.choices.first, "recovered", tuple(calls_of(ask.view, self.words)))


def calls_of(view, words):
    """A reply whose first token was forced, and the action asked for once more."""
    prompt = Prompt((("system", view.game.rules(view.seat)), ("user", words)), (1, 2))
    spans = (Span("forced", 0, 1), Span("sampled", 1, 3))
    yield Call(policy=PolicyId("tiny", "policy", 3), prompt=prompt, text=words, tokens=(5, 6, 7), spans=spans)
    action = view.choices.first
    yield Call(
        policy=PolicyId("tiny", "policy", 3), prompt=prompt, text=action, tokens=(8,), spans=(Span("argmax", 0, 1),)
    )


def begun(folder, **settings):
    """A run that has nothing but its beginning."""
    return RunFolder.create(folder, Recipe(**settings), 7, "stratagem train recipes/kuhn-tiny.toml")


def whole(folder, words="I bet, since K is high.", **settings):
    """A run with all its parts."""
    run = begun(folder, **settings)
    measured(run)
    for step in (START, CHOSEN, LAST):
        keep_policy(run, step)
    write(run, "evaluation.json", {"rows": ROWS, "evaluation": evaluated()})
    write(run, "findings.json", found())
    for number in range(2):
        write_shard(run.record, START + number, list(episodes(number, words)))
    with run.at_work():
        pass
    return run


def write(run, name, data):
    """A file of JSON in a run."""
    (run.path / name).parent.mkdir(exist_ok=True)
    (run.path / name).write_text(json.dumps(data), encoding="utf-8")


@cache
def _evaluated(game, players, episodes):
    evaluator = Evaluator(key=Key(3), episodes=episodes)
    return evaluation_json(evaluate(find_suite(game), list(players), evaluator), game, 3, episodes)


def evaluated(game="kuhn", players=tuple(STAGES), episodes=4):
    """A real evaluation, of scripted players in place of checkpoints."""
    return json.loads(json.dumps(_evaluated(game, players, episodes)))


def found():
    """Findings of the checks."""
    return {
        "alike": {"count": 9, "first": "5 of 8 groups have no variance.", "level": "note"},
        "not_finite": {"count": 1, "first": "The loss is nan.", "level": "fault"},
    }


def keep_policy(run, step, game="kuhn"):
    """A policy that comes nearer to an equilibrium step by step."""
    share = (step - START) / (LAST - START)
    policy = {}
    for place in kuhn_family().places:
        bold = (1 - share) * 0.5 + share * kuhn_family().at(place, 0.2)
        yes, no = ("CALL", "FOLD") if place.key.endswith("B") else ("BET", "PASS")
        policy[place.key] = {no: 1 - bold, yes: bold}
    write(run, f"policies/{game}-{step}.json", {"step": step, "game": game, "policy": policy})


def measured(run, game="kuhn"):
    """Metrics by the names that a trainer writes."""
    with MetricLog(run) as log:
        for step in range(1, START + 1):
            log.write(step, {"sft/loss": 7.0 / step, "sft/learning_rate": 0.003})
        log.write(START, validation(START, game))
        for step in range(START + 1, LAST + 1):
            figures = rolled(step, game) | {f"checks/{name}": 1.0 for name in found() if step == 53}
            log.write(step, figures | (validation(step, game) if step % 2 == 0 else {}))


def rolled(step, game):
    """Return the metrics of an iteration."""
    wave = math.sin(3.7 * step)
    figures = {
        f"{game}/payoff": 0.1 * wave,
        f"{game}/externality": 0.0,
        "loss": -0.02 + 0.01 * wave,
        "loss/ratio_min": 1.0,
    }
    figures |= {f"{game}/probe/exploit/{name}": 0.5 / (step - 40) + 0.3 * wave for name in ("NashApprox", "AlwaysBet")}
    for term, strength in TERMS.items():
        dot, noise = strength + 0.3 * math.sin(9.1 * step), 2.0
        figures |= {f"signal/{term}/dot": dot, f"signal/{term}/noise": noise, f"signal/{term}/ratio": dot}
    return figures


def validation(step, game):
    """Return the metrics of a validation; the greatest `checkpoint_metric` is at `CHOSEN`."""
    gap = abs(step - CHOSEN) / 100
    names = {
        "payoff": 0.1 - gap,
        "pool_advantage": gap,
        "externality": 0.0,
        "safety": -1.5 * gap,
        "shifted_payoff": 0.4,
        "nra": 0.1 - gap,
    }
    figures = {f"{game}/validation/{name}": value for name, value in names.items()}
    figures |= {f"{game}/validation/worst_case": 6 * (0.04 + gap), f"{game}/exact/worst_advantage": 2 * (0.04 + gap)}
    return figures | {f"{game}/exact/exploitability": 0.04 + gap, "checkpoint_metric": -gap}


def episodes(shard, words):
    """A match or two against each of two opponents."""
    game = make_game("kuhn(hands=2)")
    for name in ("NashApprox", "AlwaysBet"):
        match = Match(game, [Talker(words), make_player(name, game)])
        yield from play(rotate_seats(match, 2, Key(shard), name=f"kuhn/{shard}/train/{name}"))

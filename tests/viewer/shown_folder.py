"""Records with calls of a model that were written by hand, and a small run."""

import json
import math

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import forks
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

HOSTILE = '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>\u202egnp\x1b[31m'
PIECES = {1: "B", 2: "ET", 3: HOSTILE, 4: "PASS"}
"""Texts of the tokens of the made-up model."""


class Parrot:
    """A player with a hostile name who says something hostile instead of its first action."""

    name = f"parrot {HOSTILE}"
    recorded = f"{name}@1"
    traits = Traits()

    def turn(self, ask):
        if not ask.view.facts.line:
            return Move(None, "illegal", said=HOSTILE)
        return Move(ask.view.choices.first, "constrained")


def call_of(decision):
    """A call that fits the decision: a sampled token from an allowed set, a forced one, and a hostile free text."""
    prompt = Prompt((("system", "You play."), ("user", f"Card {decision.state_key} {HOSTILE}")))
    free = decision.action is None
    return Call(
        policy=PolicyId("parrot"),
        prompt=prompt,
        text=HOSTILE if free else "BET",
        tokens=(3,) if free else (1, 2),
        spans=(Span("sampled", 0, 1),) if free else (Span("sampled", 0, 1), Span("forced", 1, 2)),
        sampler_logprobs=(math.log(0.001),) if free else (math.log(0.25), 0.0),
        allowed=(None,) if free else ((1, 4), (2,)),
        sampling=Sampling(0.8),
        num_reply=1 if free else 2,
    )


def episodes_of(text, players, count=2, name="game"):
    """Episodes of a game; the parrot's decisions get their calls."""
    game = make_game(text)
    made = [player if isinstance(player, Parrot) else make_player(player, game) for player in players]
    episodes = list(play(list(rotate_seats(Match(game, made), count, Key(3), name=name))))
    for episode in episodes:
        for decision in episode.decisions:
            if episode.players[decision.seat] == Parrot.recorded:
                decision.calls = (call_of(decision),)
    return episodes


def branch_of(text, turn, players=("random", "random")):
    """An episode, and a branch from one of its turns to the end."""
    parent = episodes_of(text, list(players), 1)[0]
    game = make_game(text)
    match = Match(game, [make_player(name, game) for name in players])
    (branch,) = play(list(forks(parent, match, 1, Key(9), at=turn)))
    return parent, branch


def write_run(folder, steps=5, seed=3, **settings):
    """A run with the files that its page reads."""
    folder.mkdir(parents=True)
    info = {"seed": seed, "command": "stratagem train recipe.toml", "begun": "2026-01-01T00:00:00+00:00",
            "commit": None, "dirty": None, "made_by": {}}  # fmt: skip
    status = {"state": "finished", "sentence": "", "since": "2026-01-01T01:00:00+00:00"}
    finding = {"level": "note", "count": 2, "step": 1, "first": f"Look {HOSTILE}"}
    (folder / "run.json").write_text(json.dumps(info))
    (folder / "status.json").write_text(json.dumps(status))
    (folder / "findings.json").write_text(json.dumps({"inert_clip": finding}))
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in {"algorithm": "sepo", "seed": seed, **settings}.items()]
    (folder / "config.toml").write_text("".join(lines))
    for step in range(steps):
        add_step(folder, step)


def add_step(folder, step):
    """One more line of metrics."""
    row = {"step": step, "kuhn/exact/exploitability": 0.5 / (1 + step), "loss": None if step == 1 else -step}
    if step == 1:
        row["checks/inert_clip"] = 1.0
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")

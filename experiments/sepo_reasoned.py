"""Exploitability of SmolLM2 that reasons before its action: `python experiments/sepo_reasoned.py RUNS OUT`.

It asks the models of `experiments/sepo.py RUNS reasoned` in each situation of Kuhn poker: the SFT model, and both arms
after their last iteration. It goes on where it was stopped, adds to the JSON `OUT`, and prints a table in Markdown.
Limits are one-sided, of 95 %. Two questions were declared before the runs. After SEPO with the best response, is the
upper limit below the lower limit of the SFT model? Is it below that of the control? `--hands many` asks the same of the
models of `reasoned-many`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiment import seed_range
from result_tables import FinishedRun, finished, markdown, number, read_results, table_command_line, write_results
from sepo import REASONED, REASONED_MANY

from stratagem.api.exploitabilities import exploitability
from stratagem.base.provenance import provenance
from stratagem.playing.store import read_episodes

GAME = "kuhn(hands=1)"
STAGES: Mapping[str, tuple[str, str]] = {
    "after SFT, before SEPO": ("none-togo", "start"),
    "SEPO without a penalty (control)": ("none-togo", "last"),
    "penalty by the best response": ("best-togo", "last"),
}
"""Runs by the title of the row, and which of their models is asked."""
STUDIES: Mapping[str, tuple[str, str]] = {"few": ("seeds", REASONED), "many": ("many", REASONED_MANY)}
"""Name of a study in the JSON, and in the names of its runs, by the number of hands."""
TRAINED = "penalty by the best response"
REPLIES = 150
CARD = re.compile(r"\b[JQK]\b")


def player_of(run: FinishedRun, label: str) -> str:
    """Name a model of a run in full: its base belongs to another run, which a run's own name may not lead to."""
    files, speaks = (run.read("models.json")[name] for name in ("models", "speaks"))
    model, adapter = files[label]["model"], files[label]["adapter"]
    options = ", ".join(f"{name}={speaks[name]}" for name in ("mode", "style", "temperature", "max_new_tokens"))
    return f"lm({model}{f'+adapter:{run.path / adapter}' if adapter else ''}, {options})"


def measured(player: str, record: Path, replies: int) -> dict[str, Any]:
    """Ask a model in every situation, and return its exploitability with limits and how it answered."""
    record.parent.mkdir(parents=True, exist_ok=True)
    found = exploitability(GAME, player, effort=replies, record=record, resume=record.exists())
    return {
        "commit": provenance()["commit"],
        **found.found.to_json(),
        "replies": answers(record),
        "named": named(record),
    }


def answers(record: Path) -> dict[str, dict[str, int]]:
    """Count the actions by situation."""
    counts: dict[str, Counter[str]] = {}
    for episode in read_episodes(record, calls=False):
        for row in episode.decisions:
            counts.setdefault(row.info_key, Counter())[row.action or "illegal"] += 1
    return {key: dict(counts[key]) for key in sorted(counts)}


def named(record: Path) -> dict[str, int]:
    """Count whether the first sentence of the reasons names the own card first, another one, or none."""
    counts = Counter[str]()
    for episode in read_episodes(record):
        for row in episode.decisions:
            found = CARD.search(row.calls[0].text.partition(".")[0]) if row.calls else None
            counts["none" if found is None else "own" if row.info_key.startswith(found[0]) else "other"] += 1
    return dict(counts)


def rows(data: Mapping[str, Mapping[str, Any]]) -> Iterator[list[str]]:
    """A row for each model, and whether the limits of the trained one are apart from it."""
    for seed, models in data.items():
        trained = models.get(TRAINED)
        for title, model in models.items():
            apart = "" if trained is None or title == TRAINED else str(trained["upper"] < model["lower"])
            limits = f"{number(model['lower'])} to {number(model['upper'])}"
            yield [seed, title, number(model["point"]), limits, str(model["num_replies"]), apart]


HEADS: Sequence[str] = ("seed", "policy", "exploitability", "limits", "replies", "above the trained model's")


def main() -> None:
    """Measure the models of finished runs, and write the JSON after each."""
    parser = table_command_line(__doc__)
    parser.add_argument("--seeds", type=seed_range, default=range(1))
    parser.add_argument("--hands", choices=STUDIES, default="few", help="which study")
    parser.add_argument("--replies", type=int, default=REPLIES, help="mean number of replies a situation")
    asked = parser.parse_args()
    runs = {f"{run.stem}-{run.seed}": run for run in finished(asked.folder)}
    data, (name, game) = read_results(asked.out), STUDIES[asked.hands]
    for seed in asked.seeds:
        own = data.setdefault(name, {}).setdefault(str(seed), {})
        for title, (arm, which) in STAGES.items():
            run = runs.get(f"{game}-smollm2-{arm}-{seed}")
            if run and title not in own:
                record = asked.folder / "replies" / f"{game}-{arm}-{which}-{seed}"
                own[title] = {**measured(player_of(run, which), record, asked.replies), "run": run.provenance()}
                command = (
                    f"python experiments/sepo_reasoned.py RUNS OUT --hands {asked.hands} --replies {asked.replies}"
                )
                write_results(asked.out, {**data, "made_by": {**provenance(), "command": command}})
    print(markdown(HEADS, rows(data[name])))


if __name__ == "__main__":
    main()

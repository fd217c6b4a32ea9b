"""Words under which a reader searches a page of the site, where its title does not have them.

`python docs/site/synonyms.py FOLDER` checks that the index of one built version leads from each word to its page. The
search ranks an entry of the index above titles and texts, so the page is the first answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

SYNONYMS: Mapping[str, Sequence[str]] = {
    "docs/explanation/endpoint": ("openai api", "chat completions"),
    "docs/explanation/exploitability": ("best response", "nash equilibrium", "nashconv"),
    "docs/explanation/keyed-chance": ("seed", "random numbers", "reproducible"),
    "docs/explanation/learning": ("kl penalty", "loss", "reference policy"),
    "docs/explanation/runs": ("resume", "checkpoint", "continue training"),
    "docs/how-to/add-a-game": ("own game", "new environment"),
    "docs/how-to/add-a-loss": ("custom loss",),
    "docs/how-to/add-a-metric": ("custom metric", "scorer"),
    "docs/how-to/add-a-player": ("add opponent", "own player", "bot"),
    "docs/how-to/audit-an-agent": ("audit", "test my agent"),
    "docs/how-to/change-the-optimizer": ("learning rate", "adam", "schedule"),
    "docs/how-to/choose-opponents": ("opponents", "self-play", "curriculum"),
    "docs/how-to/compare-logs": ("eval log", "paired test"),
    "docs/how-to/costs-of-servers": ("price", "budget", "money", "rate limit", "timeout"),
    "docs/how-to/fit-memory-and-time": ("out of memory", "gradient checkpointing", "oom"),
    "docs/how-to/look-at-games": ("replay", "viewer", "studio", "log viewer"),
    "docs/how-to/name-a-file": ("trust", "consent", "allow"),
    "docs/how-to/record-and-read": ("trajectory", "data frame", "pandas"),
    "docs/how-to/remote-models": ("api key", "openrouter", "anthropic"),
    "docs/how-to/submit-a-card": ("leaderboard", "ranking"),
    "docs/how-to/train-by-a-recipe": ("config",),
    "docs/how-to/train-two-models": ("multi-agent", "two models", "multiple policies", "heterogeneous agents"),
    "docs/how-to/trained-models": ("zoo", "weights", "download a model"),
    "docs/how-to/use-a-language-model": ("hugging face", "gguf", "smollm2"),
    "docs/how-to/use-vllm": ("vllm", "gpu"),
    "docs/how-to/use-workers": ("ray", "cluster", "processes"),
    "docs/how-to/watch-a-run": ("monitoring", "progress", "wandb", "tensorboard"),
    "docs/how-to/write-a-prompt": ("prompt", "template", "system message"),
    "docs/reference/bibliography": ("citation", "literature", "paper"),
    "docs/reference/players": ("axelrod", "strategies"),
}
"""Words by page, without endings; lower case, as the search compares them."""


def index_entries(document: str) -> str:
    """Return the directives that put the words of a page into the index of the search."""
    return "".join(f"\n```{{index}} ! {word}\n```\n" for word in SYNONYMS.get(document, ()))


def main(folder: str) -> int:
    """Print the words that do not lead to their page; return 1 if there is one."""
    if not (built := Path(folder, "searchindex.js")).exists():
        print(f"{folder} has no index of a search")
        return 1
    text, wrong = built.read_text("utf-8"), 0
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    entries = {
        word: {index["docnames"][place[0]] for place in places} for word, places in index["indexentries"].items()
    }
    for page, words in SYNONYMS.items():
        for word in words:
            if entries.get(word) != {page}:
                print(f"{folder}: {word!r} does not lead to {page} alone")
                wrong += 1
    print(f"{folder}: {sum(map(len, SYNONYMS.values()))} words of the search, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""Commands of the results pages outside blocks of `sh`: those of `bash` blocks, and those in a sentence or a table."""

import re
from pathlib import Path
from shlex import split

import pytest
from typer.main import get_command

from stratagem.cli.main import app
from stratagem.cli.plural import spread

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/results").glob("*.md"))]
COMMANDS = get_command(app).commands
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"\b((?:experiments|benchmarks)/\w+\.py)\b")
INLINE = re.compile(r"`(stratagem [a-z-]+ [^`\n]*--[^`\n]*)`")
"""Commands with an option; shorter ones often name a command without what it needs."""


def commands(page):
    """Lines of the `bash` blocks, with continued lines joined, and commands in a sentence."""
    blocks = "\n".join(BLOCK.findall(page)).replace("\\\n", " ")
    lines = [line.strip() for line in blocks.splitlines() if line.strip().startswith(("stratagem ", "python "))]
    return lines + INLINE.findall(FENCED.sub("", page))


def check(line):
    """Raise for a command, an option or a script that does not exist."""
    program, *words = split(line, comments=True)
    if program == "stratagem":
        command, *arguments = spread(words)
        COMMANDS[command].make_context(command, arguments)
    else:
        assert (ROOT / words[0]).is_file(), line


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_outside_sh_blocks_exist(path, monkeypatch):
    monkeypatch.setattr("stratagem.playing.workers.ray_cluster.find_spec", lambda name: name)  # no command is run
    page = path.read_text("utf-8")
    for line in commands(page):
        check(line)
    assert [name for name in SCRIPT.findall(page) if not (ROOT / name).is_file()] == []


def test_a_wrong_command_outside_sh_blocks_is_found():
    page = "```bash\nstratagem eval kuhn \\\n  --speed 3\n```\n\nCall `stratagem train x.toml --fast 1`.\n"
    wrong = commands(page)
    assert len(wrong) == 2
    for line in wrong:
        with pytest.raises(Exception, match=r"No such option"):
            check(line)

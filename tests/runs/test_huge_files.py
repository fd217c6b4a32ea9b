"""Files of a stranger's run that are huge and take no room on a disk: each is refused within 3 GiB."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
import stratagem as sg
from pathlib import Path
from stratagem.errors import StratagemError

try:
    page = sg.load_run(sys.argv[1]).report(Path(sys.argv[1]) / "report.html")
    print("told:", "is larger than" in page.read_text("utf-8"))
except StratagemError as error:
    print("refused:", error)
"""

FILES = {
    "run.json": '{"seed": 1, "command": "", "begun": "", "commit": null, "dirty": null, "made_by": {}}',
    "status.json": '{"state": "finished", "sentence": "", "since": ""}',
    "config.toml": 'algorithm = "sepo"\nseed = 1\n',
    "metrics.jsonl": '{"step": 1, "kuhn/exact/exploitability": 2}\n',
}


@pytest.mark.parametrize("name", ["run.json", "status.json", "config.toml", "metrics.jsonl"])
def test_huge_file_of_a_run_is_refused_in_one_sentence(name, tmp_path):
    for file, text in FILES.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    with (tmp_path / name).open("ab") as file:
        file.truncate(40 << 30)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith(("refused: ", "told: True"))
    assert len(done.stdout) < 600

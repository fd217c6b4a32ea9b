"""Files of a stranger's run that are huge and take no room on a disk: each is refused within 2 GiB more."""

import pytest

from forks import forked_program

PROGRAM = """
import resource, sys
limit = (2 << 30) + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import stratagem as sg
from pathlib import Path
from stratagem.base.errors import StratagemError

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


@pytest.mark.linux
@pytest.mark.parametrize("name", ["run.json", "status.json", "config.toml", "metrics.jsonl"])
def test_huge_file_of_a_run_is_refused_in_one_sentence(name, tmp_path):
    for file, text in FILES.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    with (tmp_path / name).open("ab") as file:
        file.truncate(40 << 30)
    status, printed = forked_program(PROGRAM, tmp_path, work=tmp_path, scratch=tmp_path)
    assert status == 0, printed[-2000:]
    assert printed.startswith(("refused: ", "told: True"))
    assert len(printed) < 600

"""Page Test an agent in CI: its tests, its jobs of GitHub and GitLab, and its script, as they stand there."""

import re

import pytest
import yaml
from actions import ACTION, ROOT, act, shell

from pytest_plugin import run_pytest

__all__ = ["act", "shell"]
PAGE = (ROOT / "docs" / "how-to" / "test-an-agent-in-ci.md").read_text("utf-8")
AGENT, TESTS = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(MESSAGE,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
GITHUB, GITLAB = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
(SCRIPT,) = re.findall(r"^```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_agent_is_that_of_the_tutorial():
    assert f"```python\n{AGENT}```" in (ROOT / "docs/tutorials/is-my-model-exploitable.md").read_text("utf-8")


@pytest.mark.runs
def test_tests_print_the_message_of_the_page(tmp_path):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "my_agent.py").write_text(AGENT)
    (folder / "test_agent.py").write_text(TESTS)
    status, printed = run_pytest(folder)
    assert status == 1
    assert "1 failed, 2 passed" in printed
    assert MESSAGE in printed
    assert printed.partition(MESSAGE)[2].startswith("The card: ")


@pytest.mark.runs
def test_job_of_github_fails_by_the_flaw(act):
    (step,) = [step for step in GITHUB["jobs"]["audit"]["steps"] if "stratagem" in step["uses"]]
    (act.work / "my_agent.py").write_text(AGENT)
    status, summary, _, _ = act(**step["with"], install="false")
    assert status == 1
    assert r"kuhn.exploitability.lower \> 0.1: **holds**" in summary
    assert r"kuhn.illegal \> 0.01: **does not hold**" in summary
    assert (act.work / ACTION["inputs"]["out"]["default"] / "card.html").is_file()


def test_inputs_of_the_page_exist():
    rows = re.findall(r"^\| (`[a-z].*?) \| [^|]+ \|$", PAGE.partition("## GitHub")[2], re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z-]+)`", row)}
    assert named == {"endpoint", "model", "api-key", "budget", "prices", "baseline", "install"}
    assert named <= ACTION["inputs"].keys()


@pytest.mark.runs
def test_job_of_gitlab_fails_by_the_flaw(shell):
    job = GITLAB["audit"]
    (shell.work / "my_agent.py").write_text(AGENT)
    status, said = shell("\n".join(job["script"]))
    assert status == 1
    assert said.startswith("pip install stratagem[api]\n")
    assert "kuhn.exploitability.lower > 0.1: holds" in said
    assert (shell.work / job["artifacts"]["reports"]["junit"]).is_file()
    assert (shell.work / job["artifacts"]["paths"][0]).is_dir()


@pytest.mark.runs
def test_script_compares_and_ends_with_the_status_of_the_audit(shell):
    (shell.work / "my_agent.py").write_text(AGENT)
    shell("stratagem audit my_agent.py:act --games kuhn --decisions 300 --out baseline")
    status, said = shell(SCRIPT)
    assert status == 1
    assert "kuhn.exploitability.lower > 0.1: holds" in said
    assert "No figure changed beyond its limits." in said
    assert (shell.work / "audit" / "card.md").read_text().startswith("### Audit of my")

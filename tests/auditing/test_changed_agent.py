"""An audit or an evaluation does not go on with an agent whose file has changed."""

import json
import sys

import pytest

from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadRecord
from stratagem.base.file_modules import file_digests
from stratagem.games.catalogue import make_game
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit
from stratagem.measure.matchups import Evaluator
from stratagem.measure.resumable import PLAN, ResumableRecord
from stratagem.players.catalogue import make_player

NUMBER = iter(range(1000))
PROCESS = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    hello = {"type": "hello", "protocol": 1}
    print(json.dumps(hello if question["type"] == "hello" else {"id": question["id"], "action": "PASS"}), flush=True)
"""


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """Name of a function of a file, which imports another; a process knows a module by its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    number = next(NUMBER)
    parts, name = tmp_path / f"parts_{number}.py", f"changing_{number}.py"
    parts.write_text("def pick(actions):\n    return actions[0]\n")
    (tmp_path / name).write_text(
        f'from {parts.stem} import pick\n\n\ndef act(question):\n    return pick(question["choices"]["actions"])\n'
    )
    with commanding([f"{name}:act"]):
        yield f"{name}:act"


def test_an_audit_of_a_changed_function_is_refused_and_of_an_unchanged_one_not(agent, tmp_path):
    out, plan = tmp_path / "out", plan_audit(agent, ["kuhn"], 300)
    card = run_audit(plan, out)
    assert run_audit(plan, out) == card
    (tmp_path / "parts_of_nobody.py").write_text("")
    assert run_audit(plan, out) == card
    path = tmp_path / agent.partition(":")[0]
    path.write_text(path.read_text() + "\n")
    with pytest.raises(BadRecord, match=rf"^{path.name} has changed since the evaluation in .* was begun"):
        run_audit(plan, out)


def test_a_file_that_the_agent_imports_counts_too(agent, tmp_path):
    out, plan = tmp_path / "out", plan_audit(agent, ["kuhn"], 300)
    run_audit(plan, out)
    (parts,) = tmp_path.glob("parts_*.py")
    parts.write_text("def pick(actions):\n    return actions[-1]\n")
    with pytest.raises(BadRecord, match=rf"^{parts.name} has changed"):
        run_audit(plan, out)


def test_an_audit_against_a_changed_baseline_is_refused(agent, tmp_path):
    out, plan = tmp_path / "out", plan_audit("random", ["kuhn"], 300, against=agent)
    run_audit(plan, out)
    path = tmp_path / agent.partition(":")[0]
    path.write_text(path.read_text() + "\n")
    with pytest.raises(BadRecord, match="has changed"):
        run_audit(plan, out)


def test_a_changed_program_of_a_process_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "process.py").write_text(PROCESS)
    command = f"agent(cmd:{sys.executable} process.py, timeout=60)"
    assert "process.py" in file_digests([command])
    with commanding([command]):
        plan = {"command": "eval", "suite": "kuhn", "players": [command]}
        record = ResumableRecord(tmp_path / "record", plan)
        game = make_game("kuhn")
        pair = make_player(command, game), make_player("random", game), ("train",)
        Evaluator(1, record=record, exact_budget=0).meet(game, [pair])
        record.close()
        ResumableRecord(tmp_path / "record", plan, resume=True)
        (tmp_path / "process.py").write_text(PROCESS.replace("PASS", "BET"))
        with pytest.raises(BadRecord, match=r"^process.py has changed"):
            ResumableRecord(tmp_path / "record", plan, resume=True)


def test_a_record_of_before_the_digests_goes_on(agent, tmp_path):
    out, plan = tmp_path / "out", plan_audit(agent, ["kuhn"], 300)
    card = run_audit(plan, out)
    for path in out.rglob(PLAN):
        settings = json.loads(path.read_text())
        assert next(iter(settings.pop("files"))) == agent.partition(":")[0]
        path.write_text(json.dumps(settings))
    assert run_audit(plan, out) == card

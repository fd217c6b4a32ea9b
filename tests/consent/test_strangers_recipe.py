"""A recipe, a sweep or a run of a stranger: what it names runs, is contacted and is read only with consent."""

import json
import os
import pty
import select
import sys
import time
from pathlib import Path

import pytest

from stratagem.base.consent import table as consent_table
from stratagem.base.consent.needs import NeedKind, command_of, needs_of, reads_in
from stratagem.base.consent.table import (
    allow,
    check_command,
    check_read,
    commanding,
    consent,
    is_allowed,
    note_named,
    settle,
)
from stratagem.base.consent.trusted import trust_folder, trusted_folders
from stratagem.base.errors import BadParameter
from stratagem.cli.main import main

RECIPE = """
algorithm = "grpo"
model = "tiny"
games = ["kuhn"]
opponents = [{opponent}]
validation_episodes = 1
test_episodes = 1

[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
"""
AGENT = """
import json, sys
open({ran!r}, "a").write("ran")
for line in sys.stdin:
    asked = json.loads(line)
    hello = asked["type"] == "hello"
    answer = {{"type": "hello", "protocol": 1}} if hello else {{"action": asked["choices"]["actions"][0]}}
    print(json.dumps(answer | {{"id": asked["id"]}}), flush=True)
"""


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A folder of a stranger's: its program and its file say that they ran."""
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT.format(ran=str(tmp_path / "RAN")))
    (folder / "helper.py").write_text(f"open({str(tmp_path / 'RAN')!r}, 'a').write('ran')\n")
    program = f"cmd:{sys.executable} {folder}/agent.py"
    (folder / "program.toml").write_text(RECIPE.format(opponent=json.dumps(program)))
    (folder / "file.toml").write_text('style = "helper.py:Evil"\n' + RECIPE.format(opponent='"random"'))
    (folder / "extends.toml").write_text('extends = ["program.toml"]\nseed = 3\n')
    (folder / "sweep.toml").write_text(
        'hypothesis = "h"\nmetric = "loss"\nseeds = [1]\nrecipe = "../plain.toml"\n[vary]\nstyle = ["helper.py:Evil"]\n'
    )
    (tmp_path / "plain.toml").write_text(RECIPE.format(opponent='"random"'))
    monkeypatch.chdir(tmp_path)
    return folder


def said(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    printed = capsys.readouterr()
    return ended.value.code or 0, " ".join(printed.out.split()), " ".join(printed.err.split())


@pytest.mark.parametrize(
    "words",
    [
        ("train", "evil/program.toml", "--out", "run"),
        ("train", "evil/program.toml", "--dry-run"),
        ("train", "evil/extends.toml", "--dry-run"),
        ("train", "evil/file.toml", "--dry-run"),
        ("train", "plain.toml", "evil/file.toml", "--out", "run"),
        ("sweep", "evil/sweep.toml", "--out", "runs", "--any-tree"),
    ],
    ids=" ".join,
)
def test_nothing_of_it_runs_unasked(evil, tmp_path, capsys, words):
    code, _, error = said(capsys, *words)
    assert code == 2
    assert "which you have not named: if you trust what lies in its folder, say `stratagem trust" in error
    assert "--allow-command" in error or "--allow-file" in error
    assert not (tmp_path / "RAN").exists()
    assert not (tmp_path / "run").exists()


def test_a_dry_run_prints_first_what_it_would_run(evil, tmp_path, capsys):
    _, out, _ = said(capsys, "train", "evil/extends.toml", "--dry-run")
    assert "Besides its training this recipe would run the command cmd:" in out
    assert "(evil/program.toml): not allowed yet" in out
    _, out, _ = said(capsys, "train", "plain.toml", "--dry-run")
    assert out.startswith("The recipe runs no file and no command, contacts no server, and names no path outside")
    said(capsys, "trust", "evil")
    (tmp_path / "shown.toml").write_text('extends = ["evil/program.toml"]')
    code, out, _ = said(capsys, "train", "shown.toml", "--dry-run", "--json")
    (asked,) = json.loads(out)["asks_for"]
    assert (code, asked["kind"], asked["allowed"]) == (0, "command", True)
    assert asked["named_by"] == "evil/program.toml"


def test_each_thing_can_be_allowed_alone(evil, tmp_path, capsys):
    program = f"{sys.executable} {evil}/agent.py"
    assert said(capsys, "train", "evil/program.toml", "--dry-run", "--allow-command", program)[0] == 0
    assert said(capsys, "train", "evil/program.toml", "--dry-run", "--allow-command", f"cmd:{program}")[0] == 0
    assert said(capsys, "train", "evil/program.toml", "--dry-run", "--allow-command", f"{program} -x")[0] == 2
    assert said(capsys, "train", "evil/program.toml", "--dry-run", "--allow-host", "evil.example")[0] == 2
    code, _, error = said(capsys, "train", "evil/file.toml", "--dry-run", "--allow-file", "evil/helper.py")
    assert (code, (tmp_path / "RAN").exists()) == (2, True), "it ran, and has no class Evil"
    assert "helper.py:Evil" in error


@pytest.mark.runs
def test_in_a_trusted_folder_edited_files_never_ask(evil, tmp_path, capsys):
    trust_folder(evil)
    assert said(capsys, "train", "evil/program.toml", "--out", "run")[0] == 0
    assert (tmp_path / "RAN").exists()
    path = evil / "program.toml"
    path.write_text(path.read_text().replace("agent.py", "./agent.py"))
    assert said(capsys, "train", "evil/program.toml", "--dry-run")[0] == 0


@pytest.mark.runs
def test_a_run_is_not_believed_what_it_says(evil, tmp_path, capsys):
    """Its recipe names a program, whoever allowed it where the run began."""
    program = f"cmd:{sys.executable} {evil}/agent.py"
    words = ("train", "evil/program.toml", "--out", "run", "--allow-command", program)
    assert said(capsys, *words)[0] == 0
    (tmp_path / "RAN").unlink()
    status = json.loads((tmp_path / "run" / "status.json").read_text())
    (tmp_path / "run" / "status.json").write_text(json.dumps(status | {"state": "stopped"}))
    code, _, error = said(capsys, "train", "run", "--resume")
    assert code == 2
    assert "would run" in error
    assert not (tmp_path / "RAN").exists()


def test_what_is_typed_is_allowed_and_what_a_file_says_is_not(evil, tmp_path, capsys):
    program = f"cmd:{sys.executable} {evil}/agent.py"
    words = ("train", "plain.toml", "--dry-run", "--set", f"opponents=[{json.dumps(program)}]")
    assert said(capsys, *words)[0] == 0
    with commanding():
        note_named(evil / "program.toml", [program])
        assert [is_allowed(need) for need in consent().needs] == [False]
        allow(program)
        assert [is_allowed(need) for need in consent().needs] == [True]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("cmd:sh -c 'x, y'", {NeedKind.COMMAND}),
        ("noise(cmd:sh, p=0.1)", {NeedKind.COMMAND}),
        ("agent('CMD:sh', env=[KEY, OTHER])", {NeedKind.COMMAND, NeedKind.KEY}),
        ("agent(cmd:sh, env=KEY)", {NeedKind.COMMAND, NeedKind.KEY}),
        ("a.py:B", {NeedKind.FILE}),
        ("noise(a.py:B(x=1), p=0.1)", {NeedKind.FILE}),
        ("api:m@https://evil.example/v1", {NeedKind.HOST}),
        ("http:http://evil.example/act", {NeedKind.HOST}),
        ("http:https://[::1]:8443/act", {NeedKind.HOST}),
        ("hf:owner/model", {NeedKind.HOST}),
        ("run:../other", {NeedKind.READ}),
        ("dir:/etc/model+adapter:a=/etc/adapter", {NeedKind.READ}),
        ("spiel:efg_game(filename=/etc/passwd)", {NeedKind.READ}),
        ("disguise(random, file='/etc/passwd')", {NeedKind.READ}),
        ("template:/etc/passwd", {NeedKind.READ}),
        ("tiny", set()),
        ("mcts:100", set()),
        ("ipd(rounds=3)", set()),
    ],
)
def test_needs_are_found(tmp_path, text, kinds):
    assert {need.kind for need in needs_of(text, tmp_path / "recipe.toml")} == kinds
    with commanding():
        note_named(tmp_path / "recipe.toml", [text])
        assert {need.kind for need in consent().needs} == kinds


def test_an_identifier_names_nothing(tmp_path, monkeypatch):
    """Texts that are one are passed over, whatever their letters are: none becomes a character of a path or address."""
    letters = [letter for letter in map(chr, range(sys.maxunicode + 1)) if f"a{letter}".isidentifier()]
    text = "a" + "".join(letters)
    assert len(letters) > 100_000
    assert not set(":./\\=+'\"@ \n") & set(text.casefold())
    monkeypatch.chdir(tmp_path)
    for name in ("weights", "cmd", "env", "py", "toml", "KEY", "ﬁle", text):
        if name != text:
            (tmp_path / name).write_text("")
        assert not [*needs_of(name, tmp_path / "recipe.toml"), *reads_in(name, tmp_path)], name


def test_a_file_without_suffix_is_read_where_the_user_names_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stranger = tmp_path / "evil" / "recipe.toml"
    stranger.parent.mkdir()
    (tmp_path / "secret").write_text("")
    (stranger.parent / "link").symlink_to(tmp_path / "secret")
    with commanding(["play"]):
        note_named(stranger, ["secret", "link"])
        assert not consent().reads
        with pytest.raises(BadParameter, match="would be read"):
            check_read(tmp_path / "secret")
    with commanding(["play", "secret"]):
        check_read(tmp_path / "secret")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("cmd: sh -c 'x, y'", "sh -c 'x, y'"),
        ("noise(cmd:sh -x, p=0.1)", "sh -x"),
        ("agent('cmd:sh -c \"a, b\"', env=[K])", 'sh -c "a, b"'),
        ("tiny", None),
    ],
)
def test_commands_are_found(text, command):
    assert command_of(text) == command


def asked_on_a_terminal(words, answer):
    """Run a command on a terminal of its own, answer its question, and return its status and what it printed."""
    process, terminal = pty.fork()
    if not process:
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - until it ends
        sys.argv = ["stratagem", *words]
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code or 0)
        finally:
            os._exit(1)
    printed, begun, answered = b"", time.monotonic(), False
    while time.monotonic() - begun < 120:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                printed += os.read(terminal, 4096)
            except OSError:  # it is closed
                break
        if not answered and b"[y/N]" in printed:
            os.write(terminal, answer)
            answered = True
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status, " ".join(printed.decode().split()), answered


@pytest.mark.parametrize(("answer", "allowed"), [(b"y\n", True), (b"\n", False), (b"n\n", False)])
def test_a_terminal_is_asked_once(evil, tmp_path, answer, allowed):
    path = evil / "program.toml"
    path.write_text(path.read_text().replace("agent.py", "agent.py \\u001b[2K"))
    words = ["train", "evil/program.toml", "--dry-run"]
    code, printed, answered = asked_on_a_terminal(words, answer)
    assert answered, printed
    assert "Trust this folder?" in printed
    assert "\x1b[2K" not in printed.partition("Trust this folder")[0].rpartition("would")[2]
    assert (code == 0) == allowed
    assert trusted_folders() == ([evil] if allowed else [])
    if allowed:
        code, _, answered = asked_on_a_terminal(words, answer)
        assert (code, answered) == (0, False)


OWN = Path(consent_table.__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "opponent",
    [
        f'{OWN}/players/agents.py:AgentPlayer("\\x63md:{{program}}")',
        f'{OWN}/cli/main.py:main(["trust","{{folder}}"])',
    ],
)
@pytest.mark.parametrize("trusted", [False, True])
def test_modules_of_the_package_run_nothing_for_strangers(evil, tmp_path, capsys, opponent, trusted):
    """Their functions would start a command, or trust a folder."""
    if trusted:
        trust_folder(OWN.parent)
    program = f"{sys.executable} {evil}/agent.py"
    text = opponent.format(program=program, folder=evil)
    (evil / "own.toml").write_text(RECIPE.format(opponent=json.dumps(text)))
    assert said(capsys, "train", "evil/own.toml", "--out", "run")[0] == 2
    assert not (tmp_path / "RAN").exists()
    assert evil not in trusted_folders()


def test_a_stranger_calls_no_function_of_a_trusted_folder(evil, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text("import os\ndef clean(path):\n    os.remove(path)\n")
    victim = tmp_path / "victim"
    victim.touch()
    trust_folder(tmp_path / "mine")
    text = f'{tmp_path}/mine/own.py:clean("{victim}")'
    (evil / "call.toml").write_text(RECIPE.format(opponent=json.dumps(text)))
    assert said(capsys, "train", "evil/call.toml", "--dry-run")[0] == 2
    assert victim.exists()


def test_a_trusted_recipe_runs_no_file_of_another_folder(evil, tmp_path, capsys, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.toml").write_text('style = "helper.py:Evil"\n' + RECIPE.format(opponent='"random"'))
    trust_folder(tmp_path / "mine")
    (evil / "link.toml").symlink_to(tmp_path / "mine" / "own.toml")
    assert said(capsys, "train", "evil/link.toml", "--dry-run")[0] == 2
    monkeypatch.chdir(evil)
    assert said(capsys, "train", tmp_path / "mine" / "own.toml", "--dry-run")[0] == 2
    assert not (tmp_path / "RAN").exists()


def test_the_prefix_of_an_allowed_command_is_not_allowed():
    with commanding(["cmd:sh -c 'echo hi'"]):
        check_command("sh -c 'echo hi'")
        with pytest.raises(BadParameter, match="would run a program"):
            check_command("sh -c")


def test_a_need_is_one_line_of_the_question(tmp_path):
    (need,) = needs_of("cmd:true\nTrust this folder? /tmp/safe [y/N]", tmp_path / "recipe.toml")
    assert "\n" not in need.phrase


def test_a_recipe_extends_nothing_outside_its_folder(evil, tmp_path, capsys):
    (evil / "out.toml").write_text('extends = ["../plain.toml"]\nseed = 3\n')
    code, _, error = said(capsys, "train", "evil/out.toml", "--dry-run")
    assert (code, "plain.toml would be read" in error) == (2, True)
    (evil / "shipped.toml").write_text('extends = ["sepo/kuhn-tiny"]\n')
    assert said(capsys, "train", "evil/shipped.toml", "--dry-run")[0] == 0


def test_two_recipes_of_one_folder_ask_once(evil):
    both = {"program.toml": "cmd:./one", "file.toml": "cmd:./two"}
    questions = []
    with commanding(asker=lambda needs, folder: questions.append((folder, [need.what for need in needs])) or True):
        for name, text in both.items():
            note_named(evil / name, [text])
        settle([evil / name for name in both])
        assert questions == [(evil, ["cmd:./one"])]
        check_command("./one")
        check_command("./two")


def test_a_recipe_that_may_be_read_allows_nothing_that_it_names(evil):
    with commanding():
        allow(evil / "program.toml")
        note_named(evil / "program.toml", ["cmd:./one"])
        with pytest.raises(BadParameter, match="would run a program"):
            check_command("./one")


def test_reads_of_a_record_end_at_its_own_folder(tmp_path):
    record = tmp_path / "records" / "evil"
    record.mkdir(parents=True)
    (tmp_path / "records" / "secret.txt").touch()
    (record / "own.txt").touch()
    with commanding():
        note_named(record, [f"template:{record}/own.txt", f"template:{tmp_path}/records/secret.txt"])
        check_read(record / "own.txt")
        with pytest.raises(BadParameter, match="would be read"):
            check_read(tmp_path / "records" / "secret.txt")

"""The start of an endpoint: one sentence for each mistake, and the command."""

import socket

import pytest

import stratagem as sg
from stratagem.cli.main import main
from stratagem.show.web.server import Server


def taking(index):
    def act(question):
        return question["choices"]["actions"][index]

    return act


def test_mistakes_at_the_start_are_one_sentence(monkeypatch):
    for call, sentence in (
        (lambda: sg.serve("Nobody", "kuhn"), "There is no player of kuhn called 'Nobody'"),
        (lambda: sg.serve("human", "kuhn"), "answers at this keyboard"),
        (lambda: sg.serve([], "kuhn"), "There is no player"),
        (lambda: sg.serve([taking(0), taking(-1)], "kuhn", port=0), "Two agents have the name"),
        (lambda: sg.serve("random", "kuhn", host="0.0.0.0"), "set STRATAGEM_SERVE_KEY to a key"),
        (lambda: sg.serve("random", "kuhn", host=""), "A host is a name or a number"),
        (lambda: sg.serve("random", "kuhn", port=-1), "`port` of at least 0"),
        (lambda: sg.serve("random", "kuhn", port=70000), "A port is a number up to 65535, not 70000."),
        (lambda: sg.serve("random", "kuhn", timeout=0), "`timeout` of at least 0.001"),
        (lambda: sg.serve("random", "kuhn", concurrency=0), "`concurrency` of at least 1"),
        (lambda: sg.serve("random", "kuhn", styles="plane"), "did you mean plain"),
        (lambda: sg.serve("random", "kuhn", styles=[3]), "A prompt style is given by its name, not int."),
    ):
        with pytest.raises(sg.StratagemError, match=sentence.replace("(", r"\(")):
            call()
    monkeypatch.setenv("STRATAGEM_SERVE_KEY", "ke\ny")
    with pytest.raises(sg.StratagemError, match="a character that no key has"):
        sg.serve("random", "kuhn")


def test_an_address_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(sg.StratagemError, match=r"Address already in use\): choose another port"):
            sg.serve("random", "kuhn", port=taken.getsockname()[1])


def test_the_command_says_where_each_player_is(monkeypatch, capsys):
    def wait(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(Server, "wait", wait)
    with pytest.raises(SystemExit) as ended:
        main(["serve", "NashApprox", "AlwaysBet", "--game", "kuhn(hands=2)", "--port", "0"])
    printed = capsys.readouterr().out.splitlines()
    assert ended.value.code == 0
    assert [line.split()[:3] for line in printed] == [["model", "NashApprox", "at"], ["model", "AlwaysBet", "at"]]
    assert all(line.split()[3].startswith("http://127.0.0.1:") for line in printed)


def test_an_endpoint_is_closed_at_the_end_of_its_block():
    with sg.serve("random", "kuhn", port=0) as server:
        assert repr(server) == f"Server({server.url})"
        port = int(server.url.split(":")[2].split("/")[0])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    server.wait()

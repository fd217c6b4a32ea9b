"""A key goes to its own host, encrypted or within this machine, and to nobody else."""

import pytest
from asking import ask, echo
from fake_server import FakeServer

from stratagem.base.consent.table import Consent, check_host, commanding, consent, reading_files, take
from stratagem.base.errors import BadParameter
from stratagem.base.hosts import check_encrypted, read_host
from stratagem.cli.main import main
from stratagem.language.engines.open import engine_of
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.secret import Secret, key_for

OURS = "https://api.ours.example/v1"


@pytest.fixture(autouse=True)
def process_of_its_own():
    """Begin without allowed hosts, and leave none: a refused command line leaves its options' resources open."""
    before = consent()
    take(Consent())
    yield
    take(before)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")


def sent(monkeypatch, value, url, variable="STRATAGEM_API_KEY"):
    monkeypatch.setenv(variable, value)
    return key_for(url).reveal()


@pytest.mark.parametrize(
    ("url", "key"),
    [
        (OURS, "sk-ours-123"),
        ("https://API.OURS.EXAMPLE:8443/v1", "sk-ours-123"),
        ("http://localhost:8000/v1", "sk-local-45"),
        ("http://localhost:8001/v1", "none"),
        ("https://ours.example/v1", "none"),
        ("https://api.ours.example.evil/v1", "none"),
        ("https://evil/api.ours.example/v1", "none"),
        ("https://evil/v1#@api.ours.example", "none"),
    ],
)
def test_key_goes_to_its_own_host_only(monkeypatch, url, key):
    both = "sk-ours-123@api.ours.example, sk-local-45@localhost:8000"
    assert sent(monkeypatch, both, url) == key


def test_openai_key_without_a_host_is_openai_s(monkeypatch):
    assert sent(monkeypatch, "sk-openai-1", "https://api.openai.com/v1", "OPENAI_API_KEY") == "sk-openai-1"
    assert sent(monkeypatch, "sk-openai-1", OURS, "OPENAI_API_KEY") == "none"


@pytest.mark.parametrize("value", ["sk-secret-1", "sk-secret-1@", "@host", "sk-secret-1@ho st", "sk-secret-1@h:port"])
def test_key_without_a_host_is_refused_unseen(monkeypatch, value):
    with pytest.raises(BadParameter, match="does not say which host it belongs to: write KEY@HOST") as caught:
        sent(monkeypatch, value, OURS)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o777])
def test_keys_file_that_others_may_read_is_refused(tmp_path, monkeypatch, mode):
    path = tmp_path / "keys"
    path.write_text("# ours\nsk-file-9876@api.ours.example\n\nsk-other-55@other.example\n")
    monkeypatch.setenv("STRATAGEM_KEYS_FILE", str(path))
    path.chmod(mode)
    with pytest.raises(BadParameter, match=r"Others may read the keys in .*: say chmod 600 ") as caught:
        key_for(OURS)
    assert "sk-file" not in str(caught.value)
    path.chmod(0o600)
    assert key_for(OURS).reveal() == "sk-file-9876"
    assert key_for("https://other.example/v1").reveal() == "sk-other-55"
    assert key_for("https://third.example/v1").reveal() == "none"


def test_keys_file_of_the_home_is_read_where_no_other_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert key_for(OURS).reveal() == "none"
    path = tmp_path / ".config" / "stratagem" / "keys"
    path.parent.mkdir(parents=True)
    path.write_text("sk-home-1234@api.ours.example\n")
    path.chmod(0o600)
    assert key_for(OURS).reveal() == "sk-home-1234"
    monkeypatch.setenv("STRATAGEM_KEYS_FILE", str(tmp_path / "none"))
    with pytest.raises(BadParameter, match=r"The keys file .* cannot be read: No such file"):
        key_for(OURS)
    monkeypatch.setenv("STRATAGEM_KEYS_FILE", str(tmp_path))
    with pytest.raises(BadParameter) as caught:
        key_for(OURS)
    assert str(caught.value) == f"{tmp_path} is a folder: STRATAGEM_KEYS_FILE takes a file of keys, one a line."


def test_key_of_the_environment_counts_before_that_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    path.write_text("sk-file-9876@api.ours.example\n")
    path.chmod(0o600)
    monkeypatch.setenv("STRATAGEM_KEYS_FILE", str(path))
    assert sent(monkeypatch, "sk-ours-123@api.ours.example", OURS) == "sk-ours-123"


@pytest.mark.parametrize(
    "url",
    ["http://api.ours.example/v1", "http://10.0.0.7:8000/v1", "http://0.0.0.0/v1", "http://localhost.evil/v1"],
)
def test_plain_http_beyond_this_machine_is_refused(url):
    with pytest.raises(
        BadParameter, match="by plain http, so everybody on the way can read what is sent: say https://"
    ):
        OpenAIEngine(f"api:m@{url}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://LOCALHOST/v1", OURS])
def test_this_machine_and_encrypted_servers_are_spoken_to(url):
    check_encrypted(url)


def test_only_the_key_of_the_host_and_nothing_else_of_the_environment_is_sent(serve, monkeypatch):
    elsewhere = FakeServer(echo)
    with elsewhere:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{elsewhere.port}")
        monkeypatch.setenv("STRATAGEM_API_KEY", "sk-mine-98765@127.0.0.1,sk-ours-98765@api.ours.example")
        for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
            monkeypatch.setenv(name, f"sk-leak-{name}")
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Api-Key: sk-leak-custom\nAuthorization: Bearer sk-leak-other")
        server, engine = serve(echo)
        assert ask(engine)[0].text == "Answer 1"
    assert server.headers[0]["authorization"] == "Bearer sk-mine-98765"
    assert "sk-leak" not in str(server.headers)
    assert "sk-ours" not in str(server.headers)
    assert elsewhere.asked == [], "a proxy would have read the key"


def test_innermost_file_or_command_decides_about_hosts():
    """Hosts of an inner file are forgotten afterwards; an inner command has the hosts of its own line alone."""
    inner, outer = "https://inner.example/v1", "https://outer.example/v1"
    with reading_files("outer.example"):
        with reading_files("inner.example"):
            check_host(inner)
            check_host(outer)
        with pytest.raises(BadParameter, match=r"A server at inner\.example:443 would be asked"):
            check_host(inner)
        with commanding([f"api:m@{inner}"]):
            check_host(inner)
            with pytest.raises(BadParameter, match=r"A server at outer\.example:443 would be asked"):
                check_host(outer)
        check_host(outer)


def test_server_named_by_a_file_is_asked_only_where_its_host_is_allowed():
    with FakeServer(echo) as server:
        name = f"api:m@{server.url}"
        with reading_files(), pytest.raises(BadParameter, match=rf"add `sg\.allow\('127.0.0.1:{server.port}'"):
            engine_of(name)
        with reading_files(*["127.0.0.1:1", "localhost"]), pytest.raises(BadParameter, match=r"add `sg\.allow\("):
            engine_of(name)
        for allowed in ("127.0.0.1", f"127.0.0.1:{server.port}"):
            with reading_files(*[allowed]):
                engine_of(name)
        with reading_files(), pytest.raises(BadParameter):
            engine_of(name)  # although it is known from before
        engine_of(name)
        assert server.asked == []


@pytest.mark.parametrize("text", ["", "a b", "http://x", "me@x", "x/y", "x:port", "[::1"])
def test_what_is_no_host_is_refused(text):
    assert read_host(text) is None
    with (
        pytest.raises(BadParameter, match="can be no host, and there is no such file"),
        reading_files(*[text]),
    ):
        pass


RECIPE = """
algorithm = "grpo"
validation_episodes = 1
test_episodes = 1

[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
prefix_turns = [1, 1]
prefix_player = "lm('api:m@htt\\\\x70://127.0.0.1:{port}/v1')"
"""
"""A recipe whose player is on a server, at an address that no search of the file finds."""


@pytest.mark.runs
@pytest.mark.parametrize("allowed", [(), ("--allow-host", "127.0.0.1")])
def test_recipe_that_names_a_server_is_trained_only_with_allow_host(tmp_path, monkeypatch, capsys, allowed):
    monkeypatch.setenv("STRATAGEM_API_KEY", "sk-ours-98765@api.ours.example")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-98765")
    with FakeServer(lambda exchange: exchange.say("BET")) as server:
        path = tmp_path / "recipe.toml"
        path.write_text(RECIPE.format(port=server.port))
        with pytest.raises(SystemExit) as ended:
            main(["train", str(path), "--out", str(tmp_path / "run"), *allowed])
        said = " ".join(capsys.readouterr().err.split())
    assert "sk-" not in f"{server.headers} {said} {(tmp_path / 'run').exists() and list((tmp_path / 'run').iterdir())}"
    if allowed:
        assert ended.value.code in (0, None)
        assert server.asked
    else:
        assert (ended.value.code, server.asked) == (2, [])
        assert f"A server at 127.0.0.1:{server.port} would be asked, which neither you nor a file in a folder" in said


SWEEP = """
hypothesis = "It learns."
metric = "loss"
seeds = [1, 2]
recipe = "recipe.toml"

[vary]
temperature = [1.0, 0.5]
"""


@pytest.mark.parametrize("command", ["train", "sweep"])
def test_training_asks_a_server_on_the_terms_of_its_options(tmp_path, capsys, command):
    """Two tries of one request, and none that fails is borne."""
    with FakeServer(lambda exchange: exchange.send(503, "busy")) as server:
        (tmp_path / "recipe.toml").write_text(RECIPE.format(port=server.port))
        (tmp_path / "sweep.toml").write_text(SWEEP)
        words = [command, str(tmp_path / f"{'recipe' if command == 'train' else command}.toml")]
        words += ["--out", str(tmp_path / "run"), "--allow-host", "127.0.0.1", *(["--any-tree"] * (command == "sweep"))]
        with pytest.raises(SystemExit) as ended:
            main([*words, "--tries", "2", "--concurrency", "1", "--max-failures", "0", "--timeout", "5"])
        assert ended.value.code == 1
        assert len(server.asked) == 2
        with pytest.raises(SystemExit) as ended:
            main([*words, "--tries", "0"])
        assert ended.value.code == 2
    assert "--tries must be at least 1, a whole number, not 0." in " ".join(capsys.readouterr().err.split())


def test_long_values_of_headers_are_as_secret_as_the_key():
    """A short one, such as a name, may be a word of any reply."""
    secret = Secret("long-enough-key", headers=(("x-token", "a-token-of-20-letters"), ("x-team", "lions")))
    told = secret.hide("lions sent long-enough-key and a-token-of-20-letters")
    assert told == "lions sent … and …"
    assert "long-enough-key" not in repr(secret)

"""Whatever files and names say: it is taken, or refused in one sentence. `make fuzz` tries more of it.

`STRATAGEM_FUZZ=N` tries N times as many cases; a case is a target and a number, and always the same.
"""

import json
import os
import time

import corpus
import mutations
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stratagem.algorithms.catalogue import read_any
from stratagem.base.consent.table import reading_files
from stratagem.base.errors import StratagemError
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.models.adapters import add_adapter, load_adapter, save_adapter
from stratagem.language.models.load import load
from stratagem.language.models.tiny import tiny_folder
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard

TIMES = int(os.environ.get("STRATAGEM_FUZZ", "1"))
LONGEST = 5000
"""Characters of a sentence, which may repeat a path."""
SECONDS = 20.0
"""Of the processor, for a case."""


def refused(target, number, attempt):
    """Try a case; whether it was refused, and then in one sentence."""
    start = time.process_time()
    try:
        attempt()
    except StratagemError as error:
        said = str(error)
        assert said.strip(), (target, number)
        assert len(said) <= LONGEST, (target, number, said[:500])
        assert "Traceback" not in said, (target, number, said)
        return True
    except Exception as error:
        raise AssertionError(f"case {number} of {target} raised {type(error).__name__}: {error}") from error
    finally:
        assert time.process_time() - start < SECONDS, (target, number)
    return False


def cases(target, seeds, count, mutate):
    """The corpus as it is, and then what the dice make of it."""
    for number in range(len(seeds) + count * TIMES):
        dice = mutations.dice_of(target, number)
        yield number, seeds[number] if number < len(seeds) else mutate(dice.choice(seeds), dice)


def test_recipes(tmp_path):
    path, taken = tmp_path / "recipe.toml", 0
    for number, text in cases("recipes", corpus.RECIPES, 400, mutations.text):
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        taken += not refused("recipes", number, lambda: read_any(path))
    assert taken, "some are recipes"


def test_diamonds_and_chains_of_recipes(tmp_path):
    (tmp_path / "base.toml").write_text("seed = 1")
    for name in ("left", "right"):
        (tmp_path / f"{name}.toml").write_text('extends = ["base.toml"]')
    (tmp_path / "diamond.toml").write_text('extends = ["left.toml", "right.toml"]')
    with pytest.raises(StratagemError, match=r"base\.toml is read twice, and it is not plain whose settings hold"):
        read_any(tmp_path / "diamond.toml")
    for number in range(200):
        (tmp_path / f"{number}.toml").write_text(f'extends = ["{number + 1}.toml"]' if number < 199 else "seed = 1")
    with pytest.raises(StratagemError, match=r"is the end of more than 32 that extend one another"):
        read_any(tmp_path / "0.toml")
    assert read_any(tmp_path / "180.toml").seed == 1
    (tmp_path / "loop.toml").symlink_to("loop.toml")
    with pytest.raises(StratagemError, match="cannot be read"):
        read_any(tmp_path / "loop.toml")


def test_changes_of_recipes(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(corpus.RECIPES[2])

    def worse(change, dice):
        return mutations.text(change[0], dice), mutations.text(change[1], dice)

    for number, (place, value) in cases("changes", corpus.CHANGES, 400, worse):
        refused("changes", number, lambda place=place, value=value: read_any(path, {place: value}))


def test_names_of_players_and_games():
    game = make_game("kuhn")
    with reading_files():  # no server is asked
        for number, name in cases("names", corpus.NAMES, 300, mutations.text):
            refused("names", number, lambda name=name: make_player(name, game))
    for number, name in cases("games", corpus.GAMES, 200, mutations.text):
        refused("games", number, lambda name=name: make_game(name))


def test_replies():
    sheet = Sheet([Slot("a", ("A H", "A - B")), Slot("b", ("B H", "A H"))])
    kinds = (Flat(("PASS", "BET")), Flat(tuple(map(str, range(20)))), Flat(("C", "D", "[1, 2]")), sheet)
    for _, text in cases("replies", corpus.REPLIES, 2000, mutations.text):
        for choices in kinds:
            action, problem = choices.parse(text)
            assert (action in choices) if not problem else action is None


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with the tiny model, which may be changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATAGEM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield tiny_folder("tiny")


def copied(folder, into, without=()):
    into.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in without:
            (into / path.name).write_bytes(path.read_bytes())
    return into


@pytest.mark.parametrize("file", ["config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json"])
def test_settings_of_a_model(tmp_path, tiny, file):
    folder = copied(tiny, tmp_path / "model")
    whole = json.loads((tiny / file).read_text())
    for number, data in cases(file, [whole], 12, mutations.data):
        (folder / file).write_text(json.dumps(data))
        refused(file, number, lambda: load(f"dir:{folder}"))


@pytest.mark.parametrize(
    "template",
    [
        "{{ raise_exception('no') }}",
        "{{ 1 / 0 }}",
        "{{ messages[9].content }}",
        "{% for",
        "{{ messages.x.y }}",
        "{{ range(10 ** 12) | list }}",
        "{{ ''.__class__.__mro__ }}",
        "",
        "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ 1 + 'x' }}",
    ],
)
def test_template_that_fails_is_one_sentence(tmp_path, tiny, template):
    folder = copied(tiny, tmp_path / "model")
    (folder / "chat_template.jinja").write_text(template)
    if refused("template", template, lambda: load(f"dir:{folder}")):
        with pytest.raises(StratagemError, match=r"chat template of|tokenizer in"):
            load(f"dir:{folder}")
    else:
        assert template == ""


def test_weights_of_a_model(tmp_path, tiny):
    folder = copied(tiny, tmp_path / "model")
    whole = (tiny / "model.safetensors").read_bytes()

    def worse(data, dice):
        return (
            mutations.octets(data[:4096], dice) + data[4096:] if dice.random() < 0.8 else mutations.octets(data, dice)
        )

    for number, data in cases("weights", [whole], 15, worse):
        (folder / "model.safetensors").write_bytes(data)
        refused("weights", number, lambda: load(f"dir:{folder}"))


def test_adapters(tmp_path, tiny):
    model = load(f"dir:{tiny}")
    add_adapter(model, "one", rank=2, alpha=4)
    save_adapter(model, "one", tmp_path / "whole")
    files = sorted(path.name for path in (tmp_path / "whole").iterdir())
    folder = copied(tmp_path / "whole", tmp_path / "worse")
    for number in range(16 * TIMES):
        dice = mutations.dice_of("adapters", number)
        name = dice.choice(files)
        whole = (tmp_path / "whole" / name).read_bytes()
        if name.endswith(".json") and dice.random() < 0.7:
            worse = json.dumps(mutations.data(json.loads(whole), dice)).encode()
        else:
            worse = mutations.octets(whole, dice)
        (folder / name).write_bytes(worse)
        if number % 8 == 0:
            model = load(f"dir:{tiny}")
        refused("adapters", number, lambda number=number, model=model: load_adapter(model, str(folder), f"a{number}"))
        (folder / name).write_bytes(whole)


def test_gguf_files(tmp_path, monkeypatch):
    import gguf

    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "x.gguf"

    def write(change):
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_block_count(1)
        change(writer)
        writer.add_tensor("token_embd.weight", np.ones((64, 32), dtype=np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()

    wrong = [
        lambda writer: writer.add_string("llama.context_length", "many"),
        lambda writer: writer.add_bool("llama.embedding_length", True),
        lambda writer: writer.add_array("llama.attention.head_count", ["a", "b"]),
        lambda writer: writer.add_string("tokenizer.ggml.tokens", "x"),
        lambda writer: writer.add_uint32("tokenizer.ggml.model", 7),
        lambda writer: writer.add_float32("llama.attention.head_count", float("nan")),
    ]
    seeds = [write(change) for change in wrong]
    for number, data in cases("gguf", seeds, 60, mutations.octets):
        path.write_bytes(data)
        assert refused("gguf", number, lambda: load(f"gguf:{path}")), "none of them is a model"


@pytest.fixture
def record(tmp_path):
    game = make_game("ipd(rounds=2)")
    match = Match(game, [make_player("TitForTat", game), make_player("Joss", game)])
    write_shard(tmp_path / "record", 0, list(play(rotate_seats(match, 4, Key(1), name="x"))))
    return tmp_path / "record"


TABLES = ("episodes", "decisions", "calls", "prompts")
KINDS = (pa.int8(), pa.string(), pa.float32(), pa.list_(pa.string()), pa.null())
NULLABLE = ("decisions.action", "decisions.said", "decisions.advantage")


def test_types_and_nulls_of_columns(record):
    """Every column of every table, of other types, and with nulls where something must stand."""
    for name in TABLES:
        path = record / name / "000000.parquet"
        whole, table = path.read_bytes(), pq.read_table(path)
        for number, field in enumerate(table.schema):
            others = [kind for kind in KINDS if not kind.equals(field.type)]
            for kind in others[number % len(others) :][:TIMES]:
                wrong = table.set_column(number, pa.field(field.name, kind), pa.nulls(len(table), kind))
                pq.write_table(wrong.replace_schema_metadata(table.schema.metadata), path)
                with pytest.raises(StratagemError, match=f"has a column {field.name} of type .*, and it should be "):
                    list(read_episodes(record))
            nulls = table.set_column(number, field, pa.nulls(len(table), field.type))
            pq.write_table(nulls, path)
            if len(table) and f"{name}.{field.name}" not in NULLABLE:
                with pytest.raises(StratagemError, match=f"has nothing in {field.name}, where something must stand"):
                    list(read_episodes(record))
            else:
                list(read_episodes(record))
        path.write_bytes(whole)
    assert len(list(read_episodes(record))) == 4


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("slots", [0, 0]),
        ("slots", [0, 7]),
        ("players", ["a"]),
        ("payoffs", [1.0]),
        ("payoffs", [1.0, None]),
        ("players", ["a", None]),
        ("rounds", [[1.0]]),
        ("rounds", [None]),
        ("signals", [{"name": "x", "rounds": [None]}]),
        ("num_illegal", []),
    ],
)
def test_episodes_that_do_not_tell_of_every_seat_are_refused(record, column, value):
    path = record / "episodes" / "000000.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index(column)
    values = [value, *table[column].to_pylist()[1:]]
    wrong = pa.array(values, table.schema.field(column).type)
    pq.write_table(table.set_column(place, table.schema.field(column), wrong), path)
    with pytest.raises(StratagemError, match=r"same seats|every seat|has nothing in"):
        list(read_episodes(record))


def test_parquet_files(record):
    found = 0
    for number in range(100 * TIMES):
        dice = mutations.dice_of("parquet", number)
        path = record / dice.choice(TABLES) / "000000.parquet"
        whole = path.read_bytes()
        path.write_bytes(mutations.octets(whole, dice))
        found += refused("parquet", number, lambda: list(read_episodes(record)))
        path.write_bytes(whole)
    assert found > 50 * TIMES

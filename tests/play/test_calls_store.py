"""Model calls on disk: what is read is what an engine gave, whatever it says; prompts stand there once a shard."""

import struct
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from fakes import Fake, setups
from hypothesis import given, settings
from hypothesis import strategies as st
from talking import LATER, call_of, calls_in, talked

from stratagem.base.errors import BadRecord
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt, Sampling, Span
from stratagem.language.engines.kept_set import KeptSet
from stratagem.players.base import Move
from stratagem.playing.calls import original, prompt_id, storable
from stratagem.playing.scheduler import play
from stratagem.playing.schemas import CALLS, PROMPTS, SCHEMAS
from stratagem.playing.store import prepare, read_episodes, record, shards, write_shard

TEXT = st.text(st.characters(), max_size=20)  # half characters included
TOKENS = st.lists(st.integers(0, 2**31 - 1), max_size=6).map(tuple)
NUMBER = st.floats(allow_nan=False)
LOGPROB = NUMBER | st.floats(-50, 0, width=32)
COUNT = st.integers(0, 2**62)
PROMPT = st.builds(
    Prompt, st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXT), max_size=3).map(tuple), TOKENS
)
KEPT = st.sets(st.integers(0, 299), min_size=1).map(lambda ids: KeptSet.of(sorted(ids), 300))
CALL = st.builds(
    Call,
    policy=st.builds(PolicyId, TEXT, TEXT, st.integers(0, 2**31 - 1)),
    prompt=PROMPT,
    text=TEXT,
    tokens=TOKENS,
    spans=st.lists(
        st.builds(Span, st.sampled_from(["sampled", "forced", "argmax"]), *[st.integers(0, 2**31 - 1)] * 2), max_size=3
    ).map(tuple),
    sampler_logprobs=st.lists(LOGPROB, max_size=6).map(tuple),
    allowed=st.lists(st.none() | TOKENS | KEPT, max_size=6).map(tuple),
    sampling=st.builds(Sampling, st.floats(0, 1e300), COUNT, st.floats(0, 1, exclude_min=True), sampler=TEXT),
    finish=st.sampled_from(["done", "length", "error"]),
    num_prompt=COUNT,
    num_reply=COUNT,
    ms=NUMBER,
)


def episodes_with(calls):
    """Hands of kuhn whose decisions carry these calls, by turns none, one or all of what is left."""
    calls = list(calls)

    def turn(ask):
        taken = [calls.pop() for _ in range(min(len(calls), (0, 1, len(calls))[ask.turn % 3]))]
        return Move(ask.view.choices.first, "free", tuple(taken))

    found = list(play(setups("kuhn", [Fake(turn), Fake(turn)], 2)))
    assert not calls
    return found


def table(folder, name):
    return ds.dataset(folder / name, format="parquet").to_table()


@settings(max_examples=20, deadline=None)
@given(st.lists(CALL, max_size=5))
def test_whatever_an_engine_says_is_read_as_it_was_written(calls):
    written = episodes_with(calls)
    assert sorted(map(repr, calls_in(written))) == sorted(map(repr, calls))
    with TemporaryDirectory() as folder:
        write_shard(Path(folder), 0, written)
        assert list(read_episodes(Path(folder))) == written


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": (), "spans": (), "sampler_logprobs": (), "allowed": ()},  # a server that tells texts only
        {"allowed": ()},
        {"allowed": (None,) * 4},
        {"allowed": ((), None, (), (3,))},
        {"text": "", "finish": "error"},
        {"text": "\ud83d half a face, and a whole one \U0001f600"},
        {"text": "\ud83d\ude00 two halves that were never joined"},
        {"text": "\ufdd0 \ufdd0d83d \\ud83d \x00 \r\n\t\x1b[2J \u202e 日本"},
        {"prompt": Prompt((("user", "\udcff"), ("assistant", ""), ("user", "\x00"))), "policy": PolicyId("a\udcffb")},
        {"prompt": Prompt(())},
        {"sampling": Sampling(0.0, 0, 0.1), "ms": 1e-300, "sampler_logprobs": (-float("inf"), -0.1, -1e-17)},
    ],
)
def test_what_is_odd_is_kept(changes, tmp_path):
    written = talked(2)
    calls = (replace(call_of("PASS", Key(3)), **changes), call_of("BET", Key(4)))
    written[0].decisions[1].calls = calls
    write_shard(tmp_path, 0, written)
    assert list(read_episodes(tmp_path)) == written
    assert next(read_episodes(tmp_path)).decisions[1].calls == calls


@pytest.mark.parametrize(
    ("version", "lacking", "column"),
    [(4, "calls", "kept"), (5, "calls", "reasoning"), (10, "calls", "sampler"), (11, "timings", "answer_id")],
)
def test_a_record_of_an_earlier_version_lacks_a_column(version, lacking, column, tmp_path):
    written = talked(2)
    write_shard(tmp_path, 0, written)
    for name in SCHEMAS:
        path = tmp_path / name / "000000.parquet"
        older = pq.read_table(path).replace_schema_metadata({b"stratagem_schema_version": str(version).encode()})
        pq.write_table(older.drop_columns([column]) if name == lacking else older, path)
    assert list(read_episodes(tmp_path)) == written


def test_a_record_of_version_8_has_times_among_its_calls(tmp_path):
    written = talked(2)
    write_shard(tmp_path, 0, written)
    ms = table(tmp_path, "timings")["ms"]
    for name in SCHEMAS:
        path = tmp_path / name / "000000.parquet"
        older = pq.read_table(path).replace_schema_metadata({b"stratagem_schema_version": b"8"})
        pq.write_table(older.append_column("ms", ms) if name == "calls" else older, path)
    (tmp_path / "timings" / "000000.parquet").unlink()
    assert list(read_episodes(tmp_path)) == written


def test_times_are_in_a_table_of_their_own_that_no_card_digests(tmp_path):
    for name, ms in (("one", 1.0), ("other", 2.0)):
        episodes = [replace(e, decisions=[timed(row, ms) for row in e.decisions]) for e in talked(2)]
        write_shard(tmp_path / name, 0, episodes)
        assert {call.ms for call in calls_in(read_episodes(tmp_path / name))} == {ms}
    files = {path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()}
    changed = {
        name for name in files if (tmp_path / "one" / name).read_bytes() != (tmp_path / "other" / name).read_bytes()
    }
    assert changed == {Path("timings/000000.parquet")}


def timed(row, ms):
    """A decision whose calls took so many milliseconds."""
    return replace(row, calls=tuple(replace(call, ms=ms) for call in row.calls))


def test_ids_of_answers_come_back_and_stand_in_no_digest(tmp_path):
    for name in ("one", "other"):
        episodes = [replace(e, decisions=[answered(row, name) for row in e.decisions]) for e in talked(2)]
        write_shard(tmp_path / name, 0, episodes)
        assert list(read_episodes(tmp_path / name)) == episodes
    files = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.parquet")]
    pairs = [((tmp_path / "one" / name).read_bytes(), (tmp_path / "other" / name).read_bytes()) for name in files]
    assert {name.parts[0] for name, (one, other) in zip(files, pairs, strict=True) if one != other} == {"timings"}


def answered(row, name):
    """A decision whose answers have ids."""
    calls = (replace(call, answer_id=f"{name}-{place}-\ud800") for place, call in enumerate(row.calls))
    return replace(row, calls=tuple(calls))


def test_log_probabilities_come_back_to_the_bit(tmp_path):
    narrow = [struct.unpack("f", struct.pack("f", -0.1 * n))[0] for n in range(200)]
    wide = [-0.1 * n for n in range(200)]
    written = talked(1)
    written[0].decisions[0].calls = (replace(call_of("PASS", Key(3)), sampler_logprobs=(*narrow, *wide)),)
    write_shard(tmp_path, 0, written)
    (call, *_) = calls_in(read_episodes(tmp_path))
    assert [x.hex() for x in call.sampler_logprobs] == [x.hex() for x in (*narrow, *wide)]


@given(TEXT, TEXT)
def test_texts_that_differ_are_kept_apart(one, other):
    assert original(storable(one)) == one
    assert (storable(one) == storable(other)) == (one == other)
    storable(one).encode()


@given(st.text())
def test_an_ordinary_text_is_kept_as_it_is(text):
    assert storable(text) == text or "\ufdd0" in text


def test_prompts_have_one_name_each():
    halves, whole = (("user", "\ud83d\ude00"),), (("user", "\U0001f600"),)
    prompts = [
        ("tiny", Prompt(halves)),
        *(("tiny", Prompt((("user", said),))) for said in ("\ud83d", "\ud83e", "?", "\\ud83d", "\ufdd0d83d")),
        ("tiny", Prompt(whole)),
        ("tiny", Prompt(whole, (1, 2))),
        ("tiny", Prompt(whole, (12,))),
        ("other", Prompt(whole)),
        ("tiny", Prompt((("system", "\U0001f600"),))),
        ("tiny", Prompt((("user", "a"), ("user", "b")))),
        ("tiny", Prompt((("user", 'a"],["user","b'),))),
    ]
    assert len({prompt_id(*prompt) for prompt in prompts}) == len(prompts)
    assert prompt_id("tiny", Prompt(whole)) == prompt_id("tiny", Prompt(whole)) == "de26f3b6a7d4f5468e552456118eaf88"


def test_a_prompt_is_written_once_a_shard(tmp_path):
    written = talked(6)
    half = len(written) // 2
    write_shard(tmp_path, 0, written[:half])
    write_shard(tmp_path, 1, written[half:])
    for number, part in enumerate((written[:half], written[half:])):
        prompts = pq.read_table(tmp_path / "prompts" / f"{number:06d}.parquet")
        own = {(call.policy.base, call.prompt) for call in calls_in(part)}
        assert len(own) < len(calls_in(part))
        assert sorted(prompts["id"].to_pylist()) == sorted(prompt_id(*one) for one in own)
    assert set(table(tmp_path, "calls")["prompt"].to_pylist()) == set(table(tmp_path, "prompts")["id"].to_pylist())
    assert list(read_episodes(tmp_path)) == written


def test_equal_prompts_are_one_object_when_read(tmp_path):
    write_shard(tmp_path, 0, talked(6))
    prompts = [call.prompt for call in calls_in(read_episodes(tmp_path))]
    assert len(set(map(id, prompts))) == len(set(prompts)) < len(prompts)


def test_calls_are_left_out_on_request_and_their_files_are_not_touched(tmp_path):
    written = talked(4)
    write_shard(tmp_path, 0, written)
    bare = [replace(e, decisions=[replace(row, calls=()) for row in e.decisions]) for e in written]
    for name in ("calls", "timings", "prompts"):
        (tmp_path / name / "000000.parquet").write_bytes(b"torn")
    assert bare != written
    assert list(read_episodes(tmp_path, calls=False)) == bare
    with pytest.raises(BadRecord, match=r"calls/000000\.parquet cannot be read"):
        list(read_episodes(tmp_path))


def test_play_without_calls_has_the_tables_empty(tmp_path):
    list(record(play(setups("kuhn", ["random", "random"], 4)), tmp_path))
    for name in SCHEMAS:
        found = pq.read_table(tmp_path / name / "000000.parquet")
        assert found.schema.equals(SCHEMAS[name])
        assert (found.num_rows == 0) == (name in ("calls", "timings", "prompts"))


def test_a_prepared_folder_has_all_tables(tmp_path):
    prepare(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(SCHEMAS)


@pytest.mark.parametrize("name", ["calls", "timings", "prompts"])
def test_a_missing_table_is_one_sentence(name, tmp_path):
    write_shard(tmp_path, 0, talked(1))
    (tmp_path / name / "000000.parquet").unlink()
    with pytest.raises(BadRecord, match=f"{name}/000000.parquet cannot be read"):
        list(read_episodes(tmp_path))


@pytest.mark.parametrize(("name", "column"), [("calls", "allowed_counts"), ("prompts", "messages")])
def test_a_missing_column_is_one_sentence(name, column, tmp_path):
    write_shard(tmp_path, 0, talked(1))
    path = tmp_path / name / "000000.parquet"
    pq.write_table(pq.read_table(path).drop_columns([column]), path)
    with pytest.raises(BadRecord, match=f"has no column {column}"):
        list(read_episodes(tmp_path))


def test_a_call_without_its_prompt_is_one_sentence(tmp_path):
    write_shard(tmp_path, 0, talked(1))
    path = tmp_path / "prompts" / "000000.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(BadRecord, match=r"episode t/0\.0, turn \d+, has lost its prompt"):
        list(read_episodes(tmp_path))


def test_the_order_of_calls_is_kept_whoever_sorts_the_table(tmp_path):
    written = talked(3)
    write_shard(tmp_path, 0, written)
    path = tmp_path / "calls" / "000000.parquet"
    found = pq.read_table(path)
    pq.write_table(found.sort_by([("text", "ascending")]), path)
    assert list(read_episodes(tmp_path)) == written


HUGE = {
    "one line": "A" * 1_000_000,
    "lines": "PASS\n" * 200_000,
    "half characters": "\ud83d" * 100_000,
    "zeros": "\x00" * 1_000_000,
    "commands to the terminal": "\x1b[2J" * 250_000,
    "the escape itself": "\ufdd0" * 100_000,
    "broad": "\U0001f600" * 250_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE)
def test_a_megabyte_of_anything_is_kept(text, tmp_path):
    written = talked(1)
    call = replace(call_of("PASS", Key(3)), text=text, prompt=Prompt((("assistant", text),)))
    written[0].decisions[0].calls = (call,)
    write_shard(tmp_path, 0, written)
    assert list(read_episodes(tmp_path)) == written


def test_shards_are_cut_by_what_calls_hold(tmp_path):
    small, large = "PASS", "PASS" * 50_000

    def saying(text):
        calls = (replace(call_of("PASS", Key(3)), text=text),)
        return Fake(lambda ask: Move(ask.view.choices.first, "free", calls))

    counts = {}
    for text in (small, large):
        folder = tmp_path / str(len(text))
        list(record(play(setups("kuhn(hands=1)", [saying(text), saying(text)], 6)), folder))
        counts[text] = len(shards(folder))
        assert len(list(read_episodes(folder))) == 6
    assert counts[small] == 1
    assert counts[large] == 6  # two texts or more a hand, of 12,500 each, where 20,000 fill a shard


def test_the_tables_open_and_join_like_any_other(tmp_path):
    written = talked(20)
    list(record(written, tmp_path, every=2000))
    assert len(shards(tmp_path)) > 1
    calls, decisions, prompts = (table(tmp_path, name) for name in ("calls", "decisions", "prompts"))
    keys = ["episode", "turn", "seat", "attempt"]
    last = calls.filter(pc.equal(calls["index"], 1)).select([*keys, "text", "prompt"])
    joined = last.join(decisions.select([*keys, "action", "how"]), keys)
    assert joined.num_rows == sum(len(row.calls) == 2 for e in written for row in e.decisions) > 50
    assert joined["text"].to_pylist() == joined["action"].to_pylist()
    assert set(joined["how"].to_pylist()) == {"recovered"}
    asked = {row["id"]: row["messages"] for row in prompts.to_pylist()}
    assert {asked[name][-1]["content"] for name in joined["prompt"].to_pylist()} == {LATER}
    assert calls.schema.equals(CALLS)
    assert prompts.schema.equals(PROMPTS)
    flat, counts = calls["allowed"].combine_chunks(), calls["allowed_counts"].combine_chunks()
    assert len(flat.flatten()) == pc.sum(pc.max_element_wise(counts.flatten(), 0)).as_py() == 3 * calls.num_rows
    assert [len(tokens) for tokens in calls["tokens"].to_pylist()] == [len(row) for row in counts.to_pylist()]


def test_each_attempt_has_its_own_calls(tmp_path):
    def stumbling(ask):
        said = "FLY" if ask.attempt == 0 else ask.view.choices.first
        return Move(said, "free", (call_of(f"{said} {ask.attempt}", ask.key),))

    (episode, *_) = written = list(play(setups("tic-tac-toe", [Fake(stumbling), "random"], 2)))
    own = [row for row in episode.decisions if row.slot == 0]
    assert {row.attempt for row in own} == {0, 1}
    assert all(row.calls[0].text.endswith(str(row.attempt)) for row in own)
    write_shard(tmp_path, 0, written)
    assert list(read_episodes(tmp_path)) == written


@pytest.mark.parametrize("given", ["PASS", 7, {"text": "PASS"}, ("PASS", None), [None]])
def test_what_is_no_call_is_not_recorded_and_spoils_nothing(given, tmp_path):
    odd = Fake(lambda ask: Move(ask.view.choices.first, "free", given))
    written = list(record(play(setups("kuhn", [odd, "random"], 2)), tmp_path))
    assert calls_in(written) == []
    assert {row.how for episode in written for row in episode.decisions} == {"free", "scripted"}
    assert list(read_episodes(tmp_path)) == written

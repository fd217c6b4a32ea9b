"""One string, one model; and what is said about strings that name none."""

import pytest

from stratagem.base.errors import StratagemError
from stratagem.language.models.reference import AdapterRef, ModelRef, hide_secrets, parse_model


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("tiny", ModelRef("tiny")),
        ("tiny-qwen3.5", ModelRef("tiny-qwen3.5")),
        ("smollm2+dtype=bf16", ModelRef("smollm2", dtype="bf16")),
        ("hf:owner/model-1.5B", ModelRef("hf", "owner/model-1.5B")),
        ("hf:owner/model@refs/pr/1", ModelRef("hf", "owner/model", revision="refs/pr/1")),
        ("dir:/a+b/c", ModelRef("dir", "/a+b/c")),
        ("gguf:x.gguf", ModelRef("gguf", "x.gguf")),
        (
            "dir:/m+4bit+adapter:/r/best.1",
            ModelRef("dir", "/m", adapters=(AdapterRef("best_1", "/r/best.1"),), four_bit=True),
        ),
        (
            "tiny+adapter:x=/a+adapter:y=/a",
            ModelRef("tiny", adapters=(AdapterRef("x", "/a"), AdapterRef("y", "/a"))),
        ),
        ("run:runs/kuhn-0", ModelRef("run", "runs/kuhn-0")),
        ("run:/a@b/kuhn@best", ModelRef("run", "/a@b/kuhn", revision="best")),
        ("run:/a@b/kuhn", ModelRef("run", "/a@b/kuhn")),
        ("run:r@60/shaper+dtype=fp32", ModelRef("run", "r", revision="60/shaper", dtype="fp32")),
        ("run:r@last@start", ModelRef("run", "r@last", revision="start")),
        ("api:org/m@1@http://localhost:80/v1", ModelRef("api", "org/m@1", url="http://localhost:80/v1")),
    ],
)
def test_a_text_names_a_model(text, ref):
    assert parse_model(text) == ref
    assert parse_model(str(ref)) == ref


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "say one of tiny, tiny-qwen"),
        ("tinny", "say one of tiny, tiny-qwen"),
        ("tiny:x", "say one of"),
        ("tiny+8bit", "say one of"),
        ("ran:x", "hf:ID"),
        ("run:", "does not say which model"),
        ("run:@best", "say run:PATH@best"),
        ("run:x@best+adapter:/a", "have their adapters already"),
        ("dir:", "does not say which model"),
        ("hf:a/b/c", "hf:owner/model"),
        ("hf:owner/model+8bit", "hf:owner/model"),
        ("tiny+dtype=int3", "bf16, fp16, fp32"),
        ("tiny+dtype=bf16+dtype=fp32", "twice"),
        ("tiny+4bit+4bit", "twice"),
        ("tiny+adapter:", "+adapter:PATH"),
        ("tiny+adapter:/a/x+adapter:/b/x", "+adapter:NAME=PATH"),
        ("gguf:x.gguf+4bit", "quantised already"),
        ("api:m", "api:MODEL@URL"),
        ("api:m@ftp://x", "api:MODEL@URL"),
        ("api:m@http://", "api:MODEL@URL"),
        ("api:m@http://x/v1+4bit", "no options"),
        ("api:m@http://me:secret@x/v1", "STRATAGEM_API_KEY"),
        ("api:m@http://x/v1?key=secret", "STRATAGEM_API_KEY"),
        ("api:m@http://x/v1#secret", "STRATAGEM_API_KEY"),
        ("api:@http://me:secret@x/v1", "api:MODEL@URL"),
        ("api:m@me:secret@x/v1", "api:MODEL@URL"),
        ("api:m@ftp://x/v1?key=secret", "api:MODEL@URL"),
        ("api:m@ftp://x/v1#secret", "api:MODEL@URL"),
        ("api:m@http://[::1/v1", "api:MODEL@URL"),
        ("api:m@http://x]/v1", "api:MODEL@URL"),
        ("api:m@http://x:port/v1", "api:MODEL@URL"),
        ("api:m@http://x:99999/v1", "api:MODEL@URL"),
        ("api:m@http://x:-1/v1", "api:MODEL@URL"),
        ("api:m@http:///v1", "api:MODEL@URL"),
        ("api:m@http://a b/v1", "api:MODEL@URL"),
        ("api:m@http://a\x00b/v1", "the character NUL"),
        ("api:m@http://\u2100.example/v1", "api:MODEL@URL"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_right_forms(text, says):
    with pytest.raises(StratagemError) as caught:
        parse_model(text)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://host:1/act", "http://host:1/act"),
        ("api:m@http://host/v1", "api:m@http://host/v1"),
        ("http://me:secret@host/act", "http://…@host/act"),
        ("http://me:secret/secret@host/act", "http://…@host/act"),
        ("me:secret@host/act", "…@host/act"),
        ("api:m@http://me:secret?secret@host/v1", "api:m@http://…@host/v1"),
        ("http://host/act?token=secret\nsecret", "http://host/act?…"),
        ("api:m@http://host/v1#secret", "api:m@http://host/v1?…"),
    ],
)
def test_hidden_shows_an_address_without_what_may_be_a_key(text, shown):
    assert hide_secrets(text) == shown

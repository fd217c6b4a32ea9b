"""Whatever bytes come back become a reply or a failure in one line."""

import json
import math

import pytest

from stratagem.language.engines.remote.replies import (
    LONGEST,
    ServerReply,
    error_message,
    quote_start,
    read_models,
    read_reply,
)
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.remote.secret import Secret


def shown(text):
    return text


def answer(message, **choice):
    return json.dumps({"choices": [{"message": message, **choice}]}).encode()


def test_only_the_content_is_the_text():
    body = answer({"content": "BET", "reasoning_content": "hm", "reasoning": "hm"}, finish_reason="stop")
    assert read_reply(body, shown) == ServerReply(text="BET", finish="done", reasoning="hm")


@pytest.mark.parametrize(
    ("given", "kept"), [("chatcmpl-7", "chatcmpl-7"), ("x" * 5000, "x" * 200), (7, ""), (None, ""), ("key", "***")]
)
def test_an_answer_keeps_its_id(given, kept):
    body = json.dumps({"id": given, "choices": [{"message": {"content": "BET"}}]}).encode()
    assert read_reply(body, lambda text: text.replace("key", "***")).answer_id == kept


def test_parts_of_text_are_joined_and_other_parts_left_out():
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "B"}, 3, {"type": "text", "text": "ET"}]
    assert read_reply(answer({"content": parts}), shown).text == "BET"


def test_thoughts_that_took_all_the_tokens_leave_an_empty_reply():
    assert read_reply(answer({"content": None}, finish_reason="length"), shown) == ServerReply(text="", finish="length")


@pytest.mark.parametrize(("length", "finish"), [(LONGEST, "done"), (LONGEST + 1, "length")])
def test_a_reply_has_a_longest_length(length, finish):
    reply = read_reply(answer({"content": "x" * length}), shown)
    assert (len(reply.text), reply.finish) == (LONGEST, finish)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "answered with no chat completion: nothing"),
        (b"\xff\xfe\x00", "answered with no chat completion: ��"),
        (b"null", "answered with no chat completion: null"),
        (b"[1, 2]", "answered with no chat completion: [1, 2]"),
        (b'"later"', "answered with no chat completion: later"),
        (b"{}", "answered with no chat completion: {}"),
        (b'{"choices": []}', 'answered with no chat completion: {"choices": []}'),
        (b'{"choices": null}', 'answered with no chat completion: {"choices": null}'),
        (b'{"choices": {"0": 1}}', 'answered with no chat completion: {"choices": {"0": 1}}'),
        (b'{"choices": ["BET"]}', 'answered with no chat completion: {"choices": ["BET"]}'),
        (b'{"choices": [{"text": "BET"}]}', "gave an answer without a text"),
        (b'{"choices": [{"message": 3}]}', "gave an answer without a text"),
        (b'{"choices": [{"message": {"content": 3}}]}', "gave an answer without a text"),
        (b'{"choices": [{"message": {"content": []}, "finish_reason": {}}]}', "gave an answer without a text"),
        (
            b'{"choices": [{"message": {"content": null}, "finish_reason": "tool_calls"}]}',
            "gave an answer without a text (finish_reason tool_calls)",
        ),
        (b'{"error": {"message": "out of\\n credit"}}', "answered with no chat completion: out of credit"),
        (b"[" * 100_000, "answered with no chat completion: " + "[" * 199 + "…"),
        (b"9" * 10_000, "answered with no chat completion: " + "9" * 199 + "…"),
    ],
)
def test_nonsense_is_a_failure_that_is_not_tried_again(body, why):
    with pytest.raises(Failure) as caught:
        read_reply(body, shown)
    assert caught.value.why == why
    assert not caught.value.again


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, None, 10**30, [], float("inf")])
def test_a_count_that_makes_no_sense_is_none(count):
    body = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": count}}).encode()
    assert read_reply(body, shown).num_prompt == 0


def test_broken_characters_and_marks_of_order_are_survived():
    assert read_reply(b'\xef\xbb\xbf{"choices": [{"message": {"content": "a\xffb \\ud83d"}}]}', shown).text == "a�b ?"


def test_a_secret_is_hidden_wherever_it_stands():
    hide = Secret("sk-secret").hide
    assert read_reply(answer({"content": "sk-secret!"}), hide).text == "…!"
    assert read_models(b'{"data": [{"id": "sk-secret"}]}', hide) == ["…"]
    with pytest.raises(Failure, match=r"^answered with no chat completion: <…>$"):
        read_reply(b"<sk-secret>", hide)
    with pytest.raises(Failure, match=r"finish_reason …\)$"):
        read_reply(b'{"choices": [{"finish_reason": "sk-secret"}]}', hide)
    with pytest.raises(Failure) as caught:
        read_reply(b"x" * 195 + b"sk-secret", hide)
    assert "sk-" not in caught.value.why, "cut before it is hidden, half a key would show"


@pytest.mark.parametrize(
    "tokens",
    [
        [{"token": "sk-secret", "logprob": -1}],
        [{"token": "a", "logprob": -1, "bytes": [*b"sk-secret"]}],
        [{"token": "a", "logprob": -1, "top_logprobs": [{"token": "sk-secret", "logprob": -2}]}],
        [{"token": "sk-", "logprob": -1}, {"token": "secret", "logprob": -1}],
    ],
)
def test_tokens_that_repeat_a_secret_are_not_kept(tokens):
    body = answer({"content": "BET"}, logprobs={"content": tokens})
    assert read_reply(body, Secret("sk-secret").hide).alternatives == ()
    assert read_reply(body, Secret("sk-other").hide).alternatives


def test_log_probability_above_zero_is_no_log_probability():
    body = answer({"content": "BET"}, logprobs={"content": [{"token": "BET", "logprob": 0.25}]})
    assert not any(read_reply(body, shown).alternatives)


@pytest.mark.parametrize(
    ("written", "logprob"), [("-1" + "0" * 400, -math.inf), ("-1e999", -math.inf), ("-0.5", -0.5), ("0.0001", 0.0)]
)
def test_log_probability_of_any_size_is_read(written, logprob):
    body = answer({"content": "BET"}, logprobs={"content": [{"token": "BET", "logprob": 0.25}]})
    ((one,),) = read_reply(body.replace(b"0.25", written.encode()), shown).alternatives
    assert one == (b"BET", logprob)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "no"}}', "no"),
        (b'{"error": "no"}', "no"),
        (b'{"message": "no"}', "no"),
        (b'{"error": {"detail": "no"}}', "no"),
        (b'{"detail": "no"}', "no"),
        (b'{"detail": [{"msg": "no"}]}', '{"detail": [{"msg": "no"}]}'),
        (b"no", "no"),
    ],
)
def test_what_an_error_says_is_found(body, message):
    assert error_message(body) == message


def test_a_quotation_is_one_line_that_no_terminal_obeys():
    assert quote_start(" a\n\tb \x1b[2Jc\u202e\x00d ") == "a b [2Jc d"
    assert len(quote_start("x" * 10**6)) == 200
    assert quote_start("\n") == "nothing"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"data": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}', ["a", "b", "c"]),
        (b'{"data": [3, {"id": 4}, {"id": ""}, {"id": "b"}]}', ["b"]),
        (b'{"data": {"id": "a"}}', []),
        (b"[]", []),
        (b"<html>", []),
    ],
)
def test_models_are_listed_where_there_is_a_list(body, names):
    assert read_models(body, shown) == names

"""Served language models: free replies with honest counts, and decisions in a position."""

import math

import openai
import pytest

import stratagem as sg
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.catalogue import make_player

HELLO = [{"role": "user", "content": "Hello there."}]


SHORT, NOISY = "tiny(mode=free, max_new_tokens=3)", "noise(tiny, p=1)"


@pytest.fixture(scope="module")
def served():
    with sg.serve(["tiny", SHORT, NOISY], "kuhn", port=0) as server:
        yield server


@pytest.fixture
def asking(served, client):
    return client(served)


def test_a_free_reply_counts_its_tokens_and_repeats_by_its_seed(asking):
    model = load("tiny")
    ask = asking.chat.completions.create
    answer = ask(model="tiny", messages=HELLO, max_tokens=6, seed=3, n=3)
    texts = [choice.message.content for choice in answer.choices]
    assert len(set(texts)) == 3
    assert answer.usage.prompt_tokens == len(model.chat(HELLO))
    assert {choice.finish_reason for choice in answer.choices} == {"length"}
    assert answer.usage.completion_tokens == 18
    assert answer.to_dict()["stratagem"]["position"] is None
    again = ask(model="tiny", messages=HELLO, max_tokens=6, seed=3)
    assert again.choices[0].message.content == texts[0]
    cold = {ask(model="tiny", messages=HELLO, max_tokens=6, temperature=0).choices[0].message.content for _ in range(2)}
    assert len(cold) == 1


def test_a_stop_text_ends_a_reply_and_is_left_out(asking):
    ask = asking.chat.completions.create
    whole = ask(model="tiny", messages=HELLO, max_tokens=40, seed=3)
    text = whole.choices[0].message.content
    stop = text[len(text) // 2 : len(text) // 2 + 2]
    cut = ask(model="tiny", messages=HELLO, max_tokens=40, seed=3, stop=["\0", stop])
    assert cut.choices[0].message.content == text[: text.index(stop)]
    assert cut.choices[0].finish_reason == "stop"
    assert cut.usage.completion_tokens < whole.usage.completion_tokens == 40
    with pytest.raises(openai.BadRequestError, match="Only decisions have"):
        ask(model="tiny", messages=HELLO, logprobs=True)


def test_a_text_is_continued_as_it_stands(asking):
    answer = asking.completions.create(model="tiny", prompt="Once upon", max_tokens=5, seed=1)
    assert answer.usage.prompt_tokens == len(load("tiny").encode("Once upon"))
    assert (answer.usage.completion_tokens, answer.choices[0].finish_reason) == (5, "length")
    with pytest.raises(openai.BadRequestError, match="The prompt has 0 tokens"):
        asking.completions.create(model="tiny", prompt="")


def test_a_prompt_of_the_game_gets_the_decision_of_the_player(asking):
    view = make_game("kuhn").start(Key(2)).view(0)
    messages = [message._asdict() for message in make_style("plain").messages(view)]
    ask = asking.chat.completions.create
    answer = ask(model="tiny", messages=messages, seed=9, temperature=0.5, logprobs=True, top_logprobs=2)
    player = make_player("tiny(temperature=0.5)", make_game("kuhn"))
    mix = player.policy(view)
    (token,) = answer.choices[0].logprobs.content
    assert {one.token: one.logprob for one in token.top_logprobs} == pytest.approx(
        {action: math.log(p) for action, p in mix.items()}, abs=1e-5
    )
    assert answer.choices[0].message.content in mix
    assert answer.usage.completion_tokens > 0
    assert answer.to_dict()["stratagem"]["how"] == ["constrained"]


def test_a_decision_of_more_tokens_than_allowed_is_refused(serve, client):
    game = sg.game("ipd", labels=["go left now", "go right now"])
    ask = client(serve("tiny", game)).chat.completions.create
    position = {"stratagem": {"state": game.start(Key(2)).dump(), "seat": 1}}
    whole = ask(model="tiny", messages=HELLO, seed=1, extra_body=position)
    spent = whole.usage.completion_tokens
    assert spent > 1
    assert ask(model="tiny", messages=HELLO, seed=1, extra_body=position, max_tokens=spent).choices == whole.choices
    with pytest.raises(openai.BadRequestError, match=f"took {spent} tokens, more than max_tokens=1") as caught:
        ask(model="tiny", messages=HELLO, seed=1, extra_body=position, max_tokens=1)
    assert caught.value.param == "max_tokens"


def test_an_illegal_reply_is_the_models_own_text(asking):
    state = {"state": make_game("kuhn").start(Key(2)).dump(), "seat": 0}
    answer = asking.chat.completions.create(model=SHORT, messages=HELLO, seed=1, extra_body={"stratagem": state})
    assert answer.to_dict()["stratagem"] == {
        "player": f"{SHORT}@1",
        "position": "state",
        "how": ["illegal"],
    }
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == 3
    assert answer.choices[0].message.content


def test_noise_around_a_model_is_played_at_the_desk_too(asking):
    state = {"state": make_game("kuhn").start(Key(2)).dump(), "seat": 0}
    ask = asking.chat.completions.create
    answer = ask(model=NOISY, messages=HELLO, seed=1, extra_body={"stratagem": state})
    assert answer.choices[0].message.content in {"PASS", "BET"}
    assert answer.to_dict()["stratagem"]["how"] == ["scripted"]
    with pytest.raises(openai.BadRequestError, match="draws from probabilities of its own"):
        ask(model=NOISY, messages=HELLO, temperature=0, extra_body={"stratagem": state})

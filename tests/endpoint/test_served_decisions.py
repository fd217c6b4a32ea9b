"""Decisions of served players: their distribution, their log-probabilities, and the positions that prompts show."""

import json
import math
from collections import Counter

import openai
import pytest

import stratagem as sg
from stratagem.connect.endpoint.positions import PromptIndex, read_position
from stratagem.games.catalogue import GAMES, make_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import STYLES, make_style
from stratagem.players.base import Traits

OPENS = "Your card is {}. You open this hand."


def chat(text):
    return [{"role": "user", "content": text}]


def test_choices_follow_the_probabilities_that_are_told(kuhn, client):
    asking = client(kuhn)
    answer = asking.chat.completions.create(
        model="NashApprox", messages=chat(OPENS.format("J")), n=64, seed=5, logprobs=True, top_logprobs=5
    )
    drawn = Counter(choice.message.content for choice in answer.choices)
    assert set(drawn) == {"BET", "PASS"}
    assert 10 <= drawn["BET"] <= 34, "a third of 64, within 3.5 standard deviations"
    for choice in answer.choices:
        (token,) = choice.logprobs.content
        told = {one.token: math.exp(one.logprob) for one in token.top_logprobs}
        assert told == pytest.approx({"PASS": 2 / 3, "BET": 1 / 3})
        assert token.token == choice.message.content
        assert math.exp(token.logprob) == pytest.approx(told[token.token])
        assert bytes(token.bytes).decode() == token.token
    again = asking.chat.completions.create(model="NashApprox", messages=chat(OPENS.format("J")), n=64, seed=5)
    assert [one.message.content for one in again.choices] == [one.message.content for one in answer.choices]
    assert (
        len({asking.chat.completions.create(model="NashApprox", messages=chat(OPENS.format("J"))).id for _ in "ab"})
        == 2
    )


def test_requests_without_a_seed_draw_anew(kuhn, client):
    """With one key for all of them each client would get the same draw, and a mixed strategy would look pure."""
    asking = client(kuhn)
    requests = [
        asking.chat.completions.create(model="NashApprox", messages=chat(OPENS.format("J")), n=64) for _ in "ab"
    ]
    first, second = ([choice.message.content for choice in answer.choices] for answer in requests)
    assert first != second, "equal by chance once in 10 ** 16"


def test_options_of_sampling_are_refused_where_a_player_draws_by_itself(kuhn, client):
    asking = client(kuhn)
    state = {"state": make_game("kuhn").start(Key(0)).dump(), "seat": 0}

    def ask(model, **options):
        return asking.chat.completions.create(model=model, messages=chat(OPENS.format("K")), **options).choices[0]

    for option in ("temperature", "top_p"):
        with pytest.raises(openai.BadRequestError, match=f"so {option} can only be 1") as caught:
            ask("NashApprox", **{option: 0.5})
        assert caught.value.param == option
        assert ask("NashApprox", **{option: 1}).message.content == "BET"
        assert ask("AlwaysBet", **{option: 0.5}).message.content == "BET"
    assert ask("AlwaysBet", stop="E").message.content == "B"
    with pytest.raises(openai.BadRequestError, match="can be counted, not computed"):
        ask("mcts:5", logprobs=True, extra_body={"stratagem": state})
    with pytest.raises(openai.BadRequestError, match="looks at what is hidden, which no prompt tells"):
        ask("mcts:5")


def test_a_stop_text_leaves_the_probability_of_the_action(kuhn, client):
    answer = client(kuhn).chat.completions.create(
        model="NashApprox", messages=chat(OPENS.format("Q")), stop="P", logprobs=True, top_logprobs=1
    )
    (token,) = answer.choices[0].logprobs.content
    assert (answer.choices[0].message.content, token.token, token.logprob) == ("", "PASS", 0.0)


@pytest.mark.parametrize("name", sorted(GAMES))
def test_a_dumped_state_is_the_position_that_it_was(name):
    game = make_game("matrix(payoffs=[[[1,1],[0,0]],[[0,0],[2,2]]])" if name == "matrix" else name)
    state = game.start(Key(3))
    for turn in range(3):
        if state.over:
            break
        data = json.loads(json.dumps(state.dump()))
        for seat in state.to_act:
            place = read_position(game, data, seat)
            assert place.view.info_key == state.view(seat).info_key
            assert place.view.situation == state.view(seat).situation
        state.play({seat: state.view(seat).choices.sample(Key(4).at(turn, seat)) for seat in state.to_act})


def styled(style, view):
    return tuple((message.role, message.content) for message in make_style(style).messages(view))


def test_every_prompt_of_kuhn_is_found_and_no_other():
    game = make_game("kuhn")
    index = PromptIndex(game, {name: make_style(name) for name in STYLES})
    state = game.start(Key(8))
    while not state.over:
        (seat,) = state.to_act
        view = state.view(seat)
        for style in ("plain", "reasoned", "brief", "bare", "gtbench"):
            assert {place.view.info_key for place in index.find(styled(style, view))} == {view.info_key}
        state.play({seat: view.choices.sample(Key(8).at(state.round, len(state.line)))})
    role, text = styled("bare", game.start(Key(8)).view(0))[0]
    assert index.find(((role, text + " "),)) == ()
    assert index.find(((role, text), ("assistant", "BET"))) == ()
    assert index.obstacle == ""


def test_boards_that_look_the_same_are_one_position_for_a_search_alone():
    game = make_game("spiel:nim(pile_sizes=2;2)")
    state, other = game.start(Key(0)), game.start(Key(0))
    for one, piles in ((state, (1, 2)), (other, (2, 1))):
        for pile in piles:
            one.play({one.to_act[0]: f"pile:{pile}, take:1;"})
    assert state.view(0).situation == other.view(0).situation
    assert state.dump() != other.dump()
    styles, prompt = {"plain": make_style("plain")}, styled("plain", state.view(0))
    (place,) = PromptIndex(game, styles, by_state_key=True).find(prompt)
    assert place.view.state_key == state.view(0).state_key
    assert len(PromptIndex(game, styles).find(prompt)) > 1
    assert "larger than the budget" in PromptIndex(game, styles, budget=5).obstacle


class Seated:
    """Player that states another action in each seat."""

    name = "seated"
    traits = Traits()

    def turn(self, ask):
        raise AssertionError("it is not asked")

    def policy(self, view):
        return {[*view.choices][view.seat]: 1.0}


def agent(question):
    """Agent that does another thing in each seat."""
    return question["choices"]["actions"][question["seat"]]


def test_a_prompt_of_several_positions_is_answered_where_the_player_does_the_same(serve, client):
    asking = client(serve([sg.player(agent, "kuhn"), "AlwaysBet", Seated()]))
    name, text = f"{__name__}.agent", OPENS.format("K")

    def ask(model, **position):
        extra = {"stratagem": position} if position else {}
        return asking.chat.completions.create(model=model, messages=chat(text), extra_body=extra).choices[0].message

    assert ask("AlwaysBet").content == "BET"
    with pytest.raises(
        openai.BadRequestError, match="the 2 positions that have this prompt, of seats 0 and 1: send the"
    ):
        ask(name)
    with pytest.raises(openai.BadRequestError, match="seated may do different things"):
        ask("seated")
    assert [ask(name, seat=seat).content for seat in (0, 1)] == ["PASS", "BET"]
    assert ask(name, seat=0, state=make_game("kuhn").start(Key(0)).dump()).content == "PASS"
    with pytest.raises(openai.BadRequestError, match="cannot tell the position"):
        ask(name, seat=2)


def test_a_text_is_a_prompt_where_it_is_the_only_message(kuhn, client):
    asking = client(kuhn)
    answer = asking.completions.create(model="AlwaysBet", prompt=OPENS.format("J"))
    assert (answer.choices[0].text, answer.object) == ("BET", "text_completion")
    with pytest.raises(openai.BadRequestError, match="no prompt of the game"):
        asking.completions.create(model="AlwaysBet", prompt="Once upon a time")


def test_styles_with_options_are_recognised_where_they_are_named(serve, kuhn, client):
    style = "plain(listed=False)"
    view = sg.game("kuhn").start(Key(1)).view(0)
    messages = [message._asdict() for message in make_style(style).messages(view)]
    assert (
        client(serve("AlwaysBet", styles=style))
        .chat.completions.create(model="AlwaysBet", messages=messages)
        .choices[0]
        .message.content
        == "BET"
    )
    with pytest.raises(openai.BadRequestError):
        client(kuhn).chat.completions.create(model="AlwaysBet", messages=messages)


def test_later_versions_of_styles_are_recognised_without_being_named(kuhn, client):
    view = sg.game("kuhn").start(Key(1)).view(0)
    messages = [message._asdict() for message in make_style("plain(version=2)").messages(view)]
    (choice,) = client(kuhn).chat.completions.create(model="AlwaysBet", messages=messages).choices
    assert choice.message.content == "BET"

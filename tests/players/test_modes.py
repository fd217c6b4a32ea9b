"""Five ways to come to an action, as transcripts: what the model says, and the move that it comes to."""

import pytest
from ventriloquist import END, Ventriloquist, first_view, player_of, turn_of

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import game_names, make_game
from stratagem.language.engines.base import LIKELIEST, PLAIN, Sampling
from stratagem.players.modes import elicitation


def played(mode, lines, game="kuhn", style="plain", **options):
    """The engine after a turn, and the move."""
    engine_options = {name: options.pop(name) for name in ("masks", "fails", "babbles", "opening") if name in options}
    engine = Ventriloquist([lines] if isinstance(lines, str) else lines, **engine_options)
    return engine, turn_of(player_of(engine, mode, style, **options), game)


def texts(engine):
    return [call.text for call in engine.calls]


# --- free


@pytest.mark.parametrize(
    ("said", "action", "heard"),
    [
        ("PASS", "PASS", "PASS"),
        ("I hold a queen.\nbet and more", "BET", "I hold a queen.\nbet"),
        ("I will BET, I think", "BET", "I will BET, I think"),
        ("Is it PASS or BET?", None, "Is it PASS or BET?"),
        ("FOLD", None, "FOLD"),
        ("", None, ""),
        (" \n\n ", None, " \n\n "),
        ("<think>PASS\nBET\n</think>\nBET and so on", "BET", "<think>PASS\nBET\n</think>\nBET"),
        ("<think>PASS\n", None, "<think>PASS\n"),
        ("</think>PASS", "PASS", "</think>PASS"),
        ("To PASS is weak.\nBET", "BET", "To PASS is weak.\nBET"),
        ("PASS or BET?", "PASS", "PASS"),
    ],
)
def test_free_text_is_read_by_its_end(said, action, heard):
    engine, move = played("free", said)
    assert texts(engine) == [heard]
    assert (move.action, move.how) == (action, "free" if action else "illegal")
    assert move.said == (None if action else heard)
    assert move.calls == tuple(engine.calls)


def test_free_text_waits_where_an_action_may_go_on():
    assert played("free", "1\nand so on", "negotiation-v1")[1].action == "1"
    engine, move = played("free", "10 of it", "negotiation-v1")
    assert (move.action, texts(engine)) == ("10", ["10"])
    assert played("free", "1", "negotiation-v1")[1].action == "1"


@pytest.mark.parametrize(
    ("said", "room", "action"),
    [
        ("I ask 10", 7, None),  # cut after the 1, which goes on as 10
        ("I ask 10", 8, "10"),
        ("I ask 1", 7, None),
        ("I ask 1", 8, "1"),  # the reply ends by itself
        ("I ask 3", 7, "3"),  # no action goes on from 3
        ("It is 1 and", 10, "1"),
    ],
)
def test_a_truncated_reply_names_no_action_that_may_go_on(said, room, action):
    """A token is a letter here."""
    engine, move = played("free", said, "negotiation-v1", max_new_tokens=room)
    assert engine.calls[0].text == said[:room]
    assert move.action == action


def test_free_text_may_stop_in_mid_line():
    engine, move = played("free", "I will BET, and they will fold", mid_text=True)
    assert (move.action, texts(engine)) == ("BET", ["I will BET,"])


def test_a_prompt_that_opens_the_thinking():
    for opening in ("<think>", "<think>\n", "<think>\n\n"):
        engine, move = played("free", "BET\nno\n</think>\n\nPASS", opening=opening)
        assert (move.action, texts(engine)) == ("PASS", ["BET\nno\n</think>\n\nPASS"])
        assert played("free", "BET\n", opening=opening)[1].action is None


@pytest.mark.parametrize("opening", ["<think></think>", "<think>\n\n</think>\n\n", "<think> is a tag.\n"])
def test_a_prompt_whose_thinking_is_over(opening):
    engine, move = played("free", "BET\nPASS", opening=opening)
    assert (move.action, texts(engine)) == ("BET", ["BET"])


@pytest.mark.parametrize("mode", ["free", "recover"])
@pytest.mark.parametrize("babble", ["blah ", "<think>PASS\n", [0xFF], " to PASS or BET? "])
def test_a_model_that_never_stops_is_cut(mode, babble):
    engine, move = played(mode, [babble, "PASS"], babbles=True, max_new_tokens=40)
    assert len(engine.calls[0].tokens) == 40
    assert engine.calls[0].finish == "length"
    assert (move.action, move.how) == ((None, "illegal") if mode == "free" else ("PASS", "recovered"))


def test_a_server_is_heard_as_text():
    for said, action in [("Well.\nBET", "BET"), ("<think>BET</think>PASS", "PASS"), ("<think>BET", None), ("", None)]:
        engine, move = played("free", said, masks=False, max_new_tokens=77)
        assert (move.action, move.said) == (action, None if action else said)
        assert engine.requests[0].max_new_tokens == 77


@pytest.mark.parametrize("mode", ["free", "recover", "direct", "single"])
def test_a_failure_of_the_engine_is_told(mode):
    engine, move = played(mode, "PASS", "ipd-shapellm", fails=(0,))
    assert (move.action, move.how, move.said) == (None, "error", "The server is away.")
    assert move.calls == tuple(engine.calls)
    assert len(engine.calls) == 1


# --- recover


def test_recovery_asks_once_more_for_the_likeliest():
    engine, move = played("recover", ["Hm, let me see.", "BET"], sampling=Sampling(0.5, top_k=9))
    first, second = engine.requests
    assert (move.action, move.how, texts(engine)) == ("BET", "recovered", ["Hm, let me see.", "BET"])
    assert move.calls == tuple(engine.calls)
    assert first.extended
    assert first.sampling == Sampling(0.5, top_k=9)
    assert second.sampling == LIKELIEST
    assert second.prompt.tokens[: len(first.prompt.tokens)] == first.prompt.tokens
    question = elicitation(first_view().choices)
    assert second.prompt.messages == (*first.prompt.messages, ("assistant", "Hm, let me see."), ("user", question))
    assert "PASS, BET" in question


def test_recovery_obeys_the_trie_whatever_the_model_would_say():
    engine, move = played("recover", ["no idea", "xyz"])
    assert move.action in ("PASS", "BET")
    assert texts(engine)[1] == move.action


@pytest.mark.parametrize("said", ["BET", "I bet.\nBET"])
def test_what_was_heard_needs_no_recovery(said):
    engine, move = played("recover", said)
    assert (move.action, move.how, len(engine.requests)) == ("BET", "free", 1)


def test_a_failure_of_the_second_call_is_told():
    engine, move = played("recover", ["hm", "BET"], fails=(1,))
    assert (move.action, move.how, move.said) == (None, "error", "The server is away.")
    assert len(move.calls) == len(engine.calls) == 2


def test_an_elicitation_names_few_of_many_actions():
    assert elicitation(first_view("spiel:chess").choices).count(",") < 25
    assert "[0, 0, 0]" in elicitation(first_view("negotiation-v2").choices)


# --- constrained


@pytest.mark.parametrize(
    ("said", "style", "written"),
    [
        ("I bluff.\nAction: BET", "reasoned", "I bluff.\nAction: BET"),
        ("Action:BET", "reasoned", "Action: BET"),
        ("Action: PASS", "reasoned", "Action: PASS"),
        ("Fine. Action: xyz", "reasoned", "Fine. Action: BET"),
        ("No more words.", "reasoned", "No more words.<|end|>\nAction: BET"),
        ("A line.\n", "reasoned", "A line.\n<|end|>Action: BET"),
        ("", "reasoned", "<|end|>Action: BET"),
        ("<think>Action: BET\n</think>Then\nAction: BET", "reasoned", "<think>Action: BET\n</think>Then\nAction: BET"),
        ("<think>Action: BET", "reasoned", "<think>Action: BET<|end|>\n</think>\nAction: BET"),
        ("so <BET>", "gtbench-reasoned", "so <BET"),
        ("so", "gtbench-reasoned", "so<|end|>\n<BET"),
    ],
)  # fmt: skip
def test_after_the_mark_only_an_action_can_be_written(said, style, written):
    engine, move = played("constrained", said, style=style)
    tokens = engine.calls[0].tokens
    assert engine.vocabulary.decode(tokens) == written
    assert (move.action, move.how) == ("PASS" if written.endswith("PASS") else "BET", "constrained")


def test_the_mark_is_put_where_the_room_ends():
    engine, move = played("constrained", "abcdefgh ", style="reasoned", babbles=True, max_new_tokens=20)
    (call,) = engine.calls
    kinds = "".join(span.kind[0] for span in call.spans)
    assert call.text == "abcdefgh abcdefgh ab\nAction: BET"
    assert kinds == "s" * 20 + "f" * len("\nAction: ") + "s" + "f" * len("ET")
    assert move.action == "BET"


def test_an_open_thought_is_closed_where_the_room_ends():
    engine, _ = played("constrained", "<think>hm ", style="reasoned", babbles=True, max_new_tokens=12)
    assert engine.calls[0].text.startswith("<think>hm <t\n</think>\nAction: ")
    engine, _ = played("constrained", "hm ", style="reasoned", babbles=True, max_new_tokens=6, opening="<think>\n")
    assert engine.calls[0].text.startswith("hm hm \n</think>\nAction: ")


@pytest.mark.parametrize(
    ("written", "allowed"), [("Action:", " "), ("Action: ", "BP"), ("Action:\n", "BP"), ("", " "), ("Action:\t", "BP")]
)
def test_the_action_begins_after_a_space_unless_one_stands_there(written, allowed):
    compiler = player_of(Ventriloquist([""]), "constrained", "reasoned").speaker.compiler
    cursor = compiler.after(first_view().choices, " ")(written).start()
    assert cursor.allowed == tuple(allowed.encode())


def test_replies_that_end_alike_share_what_was_compiled():
    compiler, choices = player_of(Ventriloquist([""]), "constrained", "reasoned").speaker.compiler, first_view().choices
    one, other, apart = (f"{said} So:\nAction: " for said in ("He bets.", "I hold a king, and he passed.", "It is"))
    assert compiler.after(choices, " ")(one) is compiler.after(choices, " ")(other)
    assert compiler.after(choices, " ")(apart[:-1]) is not compiler.after(choices, " ")(apart)


# --- direct and single


@pytest.mark.parametrize(
    ("said", "action"), [("PASS", "PASS"), ("I think PASS", "BET"), ("", "BET"), ([255, END], "BET")]
)
def test_directly_nothing_but_an_action_can_be_said(said, action):
    engine, move = played("direct", [said])
    assert (move.action, move.how, texts(engine)) == (action, "constrained", [action])
    assert engine.requests[0].sampling == PLAIN


@pytest.mark.parametrize("name", [name for name in game_names() if name != "matrix"])
def test_directly_every_game_can_be_played(name):
    for said in ("", "zebra", "9876", "[9, 9"):
        view = first_view(name)
        engine, move = played("direct", said, name)
        assert move.action in view.choices
        (text,) = texts(engine)
        assert view.choices.parse(text).action == move.action


@pytest.mark.parametrize(
    ("said", "action"), [("C", "C"), ("D", "D"), ("E", None), (" C", None), ("", None), ("DC", "D")]
)
def test_a_single_token_is_taken_as_it_is(said, action):
    engine, move = played("single", said, "ipd-shapellm")
    (request,) = engine.requests
    assert (move.action, move.how) == (action, "free" if action else "illegal")
    assert len(engine.calls[0].tokens) == request.max_new_tokens == 1
    assert request.guide.allowed is None


def test_a_single_token_is_too_few_for_words():
    with pytest.raises(BadParameter, match=r"needs actions of one token each, unlike 'PASS': take mode=direct"):
        turn_of(player_of(Ventriloquist(["PASS"]), "single"))


# --- what a mode needs


@pytest.mark.parametrize("mode", ["recover", "constrained", "direct", "single"])
def test_a_server_can_only_speak_freely(mode):
    player = player_of(Ventriloquist(["PASS"], masks=False), mode, "reasoned")
    with pytest.raises(BadParameter, match=f"dummy tells texts only, which the mode {mode} cannot use: take mode=free"):
        player.check(make_game("kuhn"))


def test_an_engine_that_draws_by_no_sampler_is_refused_before_it_is_asked():
    player = player_of(Ventriloquist(["PASS"]), "direct", sampling=Sampling(sampler="epsilon_uniform"))
    with pytest.raises(
        BadParameter, match="dummy cannot draw by the sampler epsilon_uniform: leave it out, or take an"
    ):
        player.check(make_game("kuhn"))


@pytest.mark.parametrize("style", ["plain", "shapellm-state"])
def test_a_style_without_a_mark_cannot_be_constrained(style):
    with pytest.raises(BadParameter, match="take style=reasoned or style=gtbench-reasoned, or mode=direct"):
        player_of(Ventriloquist(["PASS"]), "constrained", style).check(make_game("ipd-shapellm"))


def test_what_can_be_played_is_not_refused():
    for mode, style, game in [("direct", "plain", "kuhn"), ("single", "shapellm-state", "ipd-shapellm"),
                              ("constrained", "gtbench-reasoned", "nim"), ("free", "reasoned", "auction")]:  # fmt: skip
        player_of(Ventriloquist(["PASS"]), mode, style).check(make_game(game))
    player_of(Ventriloquist(["PASS"], masks=False), "free").check(make_game("kuhn"))

"""Play in a page: which episodes, and which of a reply's text was drawn, forced or recovered."""

import pytest
from made_runs import begun, episodes, whole, write
from reading import Page

from stratagem.language.engines.base import Call, PolicyId, Prompt, Span
from stratagem.playing.store import write_shard
from stratagem.show.reports.replies import ReplyStretch, decoder, pieces
from stratagem.show.reports.report import report_html
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.sections.play import chosen_play, opponents_of
from stratagem.show.reports.stages import played_by, stage_title

LETTERS = dict(enumerate("bet."))


def call(text, *spans):
    tokens = tuple(range(spans[-1][-1])) if spans else ()
    return Call(
        policy=PolicyId("tiny"), prompt=Prompt(()), text=text, tokens=tokens, spans=tuple(Span(*span) for span in spans)
    )


def spelt(tokens):
    return "".join(LETTERS[token] for token in tokens)


def test_a_reply_is_cut_where_its_tokens_change():
    mixed = call("bet.", ("sampled", 0, 2), ("forced", 2, 3), ("sampled", 3, 4))
    assert pieces(mixed, spelt) == [
        ReplyStretch("sampled", "be"),
        ReplyStretch("forced", "t"),
        ReplyStretch("sampled", "."),
    ]


def test_a_reply_of_one_kind_needs_no_tokenizer():
    assert pieces(call("bet", ("argmax", 0, 3)), None) == [ReplyStretch("argmax", "bet")]
    assert pieces(call("from a server"), None) == [ReplyStretch("sampled", "from a server")]


@pytest.mark.parametrize("decode", [None, lambda tokens: "?" * len(tokens), lambda tokens: "bet."[-len(tokens) :]])
def test_a_reply_that_cannot_be_cut_is_mixed(decode):
    assert pieces(call("bet.", ("sampled", 0, 2), ("forced", 2, 4)), decode) == [ReplyStretch("mixed", "bet.")]


def test_an_end_that_is_not_said_is_no_piece():
    said = call("be", ("sampled", 0, 2), ("forced", 2, 3))
    assert pieces(said, lambda tokens: "be"[: len(tokens)]) == [ReplyStretch("sampled", "be")]


def test_the_runs_own_tokenizer_cuts(tmp_path):
    from stratagem.language.models.load import load

    folder = tmp_path / "base" / "model"
    tokenizer = load("tiny").tokenizer
    tokenizer.save_pretrained(folder)
    ids = tokenizer("I bet since K is high", add_special_tokens=False)["input_ids"]
    reply = Call(
        policy=PolicyId("tiny"),
        prompt=Prompt(()),
        text="I bet since K is high",
        tokens=tuple(ids),
        spans=(Span("sampled", 0, 3), Span("forced", 3, len(ids))),
    )
    found = pieces(reply, decoder(tmp_path))
    assert [piece.kind for piece in found] == ["sampled", "forced"]
    assert "".join(piece.text for piece in found) == reply.text
    assert found[0].text == tokenizer.decode(ids[:3])


def test_without_a_tokenizer_there_is_no_decoder(tmp_path):
    assert decoder(tmp_path) is None


def test_the_first_and_the_last_opponent_are_shown_at_both_ends(tmp_path):
    run = whole(tmp_path / "run")
    pairs = chosen_play(RunData(run))
    assert [opponents_of(pair.start.episode) for pair in pairs] == [("kuhn/NashApprox",), ("kuhn/AlwaysBet",)]
    for (_, start), (_, end) in pairs:
        assert (start.id.split("/")[1], end.id.split("/")[1]) == ("0", "1")
        assert opponents_of(end) == opponents_of(start)
        assert end.slots == start.slots


def test_a_run_of_one_shard_has_no_end_yet(tmp_path):
    run = begun(tmp_path / "run")
    write_shard(run.record, 0, list(episodes(0, "x")))
    assert all(pair.end is None for pair in chosen_play(RunData(run)))
    page = Page(report_html(run))
    assert "Start: Base" in page.texts["play"]
    assert "End" not in page.texts["play"]


def test_both_ends_have_the_names_of_the_tables(tmp_path):
    run = whole(tmp_path / "run")
    said = Page(report_html(run)).texts["play"]
    assert "Start: SFT" in said
    assert "End: SEPO (step 1)" in said
    shaped = RunData(begun(tmp_path / "shaped", algorithm="shapellm"))
    assert played_by(shaped, 25, "ipd/25/0") == "trial 25"


def test_policies_of_stages_are_named_by_their_methods(tmp_path):
    run = begun(tmp_path / "run", algorithm="scopal", refine=["bc", "kto"])
    titles = {"start": "Base", "4": "BC", "9": "BC + KTO", "14": "BC, iteration 2", "19": "BC + KTO, iteration 2"}
    write(run, "models.json", {"models": {}, "titles": titles})
    data = RunData(run)
    assert [played_by(data, 7, f"{number}/kuhn/0") for number in range(3)] == [
        "Base",
        "BC + KTO",
        "BC + KTO, iteration 2",
    ]
    assert [stage_title(data, step) for step in (0, 4, 19)] == ["Base", "BC", "BC + KTO, iteration 2"]


def test_a_card_tells_the_prompt_the_reply_the_action_and_the_pay(tmp_path):
    run = whole(tmp_path / "run", words="Well, I bet.")
    first = chosen_play(RunData(run))[0].start.episode
    said = Page(report_html(run)).texts["play"]
    seat = first.seat_of(0)
    assert f"seat {seat}, payoff {first.payoffs[seat]:.2f}".replace("-", "\u2212") in said
    assert "three cards: J below Q below K" in said
    assert "Well, I bet." in said
    assert "recovered: the most likely legal action" in said
    html = report_html(run)
    assert '<mark class="mixed">Well, I bet.</mark>' in html
    assert '<mark class="argmax">PASS</mark>' in html


def test_a_long_reply_is_cut_and_says_so(tmp_path):
    run = whole(tmp_path / "run", words="x" * 5000)
    assert "\u2026 (1000 more characters)" in Page(report_html(run)).texts["play"]

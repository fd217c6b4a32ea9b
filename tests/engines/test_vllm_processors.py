"""Processors of both runners of vLLM: each row of the batch is drawn for its own request, wherever it moves."""

from types import SimpleNamespace

import pytest
import torch
from numbered import Steps

from stratagem.games.key import Key
from stratagem.language.engines.base import LIKELIEST, PolicyNode, Prompt, Request, ScoreRequest
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.scoring import node_of
from stratagem.language.engines.vllm.processors import V1Shell, V2Shell
from stratagem.language.engines.vllm.rows import KEY, ReplyRow, ScoreRow, number_of_row

SIZE = 50
SWAP, ONE_WAY = SimpleNamespace(name="SWAP"), SimpleNamespace(name="UNIDIRECTIONAL")


def row(*allowed):
    """A reply whose next token is one of these."""
    guide = Steps([frozenset(allowed), [7, 8], frozenset({9, 10})])
    request = Request(engine=None, prompt=Prompt((), (1,)), guide=guide, key=Key(3), sampling=LIKELIEST)
    return ReplyRow(Reply(request))


def params(row):
    return SimpleNamespace(extra_args={KEY: number_of_row(row)})


def update(removed=(), added=(), moved=()):
    return SimpleNamespace(removed=removed, added=[(index, some, [], []) for index, some in added], moved=moved)


def logits(rows):
    """Logits by which a later token is likelier."""
    return torch.arange(SIZE, dtype=torch.float32).repeat(rows, 1)


def drawn(shell, rows):
    return shell.apply(logits(rows)).argmax(-1).tolist()


def test_v1_rows_follow_their_requests():
    shell, rows = V1Shell(None, torch.device("cpu"), False), [row(token) for token in (11, 12, 13)]
    shell.update_state(update(added=[(index, params(one)) for index, one in enumerate(rows)]))
    assert drawn(shell, 3) == [11, 12, 13]
    shell.update_state(None)
    shell.update_state(update(moved=[(0, 2, SWAP)]))
    assert drawn(shell, 3) == [13, 12, 11]
    shell.update_state(update(removed=[0], moved=[(2, 0, ONE_WAY)]))
    assert drawn(shell, 2) == [11, 12]
    other = row(14)
    shell.update_state(update(added=[(1, params(other))]))
    assert drawn(shell, 2) == [11, 14]


def test_v1_leaves_rows_of_others_alone():
    shell, own = V1Shell(None, torch.device("cpu"), False), row(11)
    added = [(0, SimpleNamespace(extra_args=None)), (1, params(own)), (2, SimpleNamespace(extra_args={"other": 1}))]
    shell.update_state(update(added=added))
    found = shell.apply(logits(3))
    assert torch.equal(found[[0, 2]], logits(2))
    assert found[1].argmax() == 11
    del own
    assert torch.equal(shell.apply(logits(3)), logits(3))


def test_v2_rows_follow_their_slots():
    shell, one, two = V2Shell(None, None), row(11), row(12)
    assert shell.add_request(4, params(one))
    assert shell.add_request(2, params(two))
    assert not shell.add_request(3, SimpleNamespace(extra_args=None))
    found = shell.apply(logits(3), SimpleNamespace(expanded_idx_mapping=torch.tensor([2, 3, 4])))
    assert found.argmax(-1).tolist() == [12, SIZE - 1, 11]
    assert not shell.add_request(4, SimpleNamespace(extra_args=None))
    assert torch.equal(shell.apply(logits(1), SimpleNamespace(expanded_idx_mapping=torch.tensor([4]))), logits(1))


def test_draw_that_is_not_reported_is_drawn_again():
    shell, one = V1Shell(None, torch.device("cpu"), False), row(11, 12)
    shell.update_state(update(added=[(0, params(one))]))
    assert drawn(shell, 1) == drawn(shell, 1) == [12]
    assert one.reply.tokens == []
    one.take(12)
    assert (one.reply.tokens, one.reply.pending) == ([12, 7, 8], [7, 8])
    for token in (7, 8, 10):
        assert drawn(shell, 1) == [token]
        one.take(token)
    assert one.reply.tokens == [12, 7, 8, 10]
    assert one.over(99)


def test_token_that_was_not_drawn_is_a_defect():
    shell, one = V1Shell(None, torch.device("cpu"), False), row(11, 12)
    shell.update_state(update(added=[(0, params(one))]))
    drawn(shell, 1)
    with pytest.raises(RuntimeError, match="vLLM reports token 11 where 12 was drawn"):
        one.take(11)


def test_nodes_are_scored_beside_replies():
    request = ScoreRequest(prompt=Prompt((), (1, 2)), nodes=(PolicyNode((), (3, 4), True), PolicyNode((), (3,), False)))
    score = ScoreRow(AdapterText("", (1, 2)), [node_of(request, node) for node in request.nodes])
    shell, reply = V1Shell(None, torch.device("cpu"), False), row(11)
    shell.update_state(update(added=[(0, params(reply)), (1, params(score))]))
    assert drawn(shell, 2) == [11, 0]
    masked, free = (score.scores[node] for node in score.nodes)
    assert masked == pytest.approx(torch.log_softmax(torch.tensor([3.0, 4.0]), -1).tolist())
    assert free == pytest.approx([torch.log_softmax(logits(1)[0], -1)[3].item()])

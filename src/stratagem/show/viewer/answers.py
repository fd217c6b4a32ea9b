"""Answers of the pages: what a folder holds, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.base import Json
from stratagem.language.engines.base import Call
from stratagem.language.engines.kept_set import KeptSet, TokenSet
from stratagem.language.models.load import folder_of
from stratagem.language.models.reference import BUILT_IN, parse_model
from stratagem.measure.audit.card import read_card
from stratagem.playing.records import Decision, Episode
from stratagem.show.reports.replies import Decode, decoder, read_decoder
from stratagem.show.viewer.episode_index import episodes_of
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.listing import LONGEST_PAGE, Filter, find_row, list_episodes
from stratagem.show.viewer.parameters import number, require_parameter
from stratagem.show.viewer.prompts import shade_prompt
from stratagem.show.viewer.replays import load_episode, replay_of
from stratagem.show.viewer.runs import damaged_row, run_page, run_row
from stratagem.show.viewer.sentences import sentence_of
from stratagem.training.runs.folder import RunFolder, own_file

_ALLOWED = 24
"""Largest allowed set whose tokens are told one by one."""


def decision_at(episode: Episode, turn: int, seat: int, attempt: int) -> Decision:
    """Return a decision by its place in an episode."""
    for decision in episode.decisions:
        if (decision.turn, decision.seat, decision.attempt) == (turn, seat, attempt):
            return decision
    raise UnknownName("decision", f"turn {turn}, seat {seat}, attempt {attempt}", ())


def words_of(decision: Decision, run: RunFolder | None) -> list[Json]:
    """Return the calls behind a decision."""
    return [_call(call, _decode(call.policy.base, run.path if run else None)) for call in decision.calls]


def shaded_words(folder: Path, shard: int, episode: Episode, decision: Decision, run: RunFolder | None) -> list[Json]:
    """Return the calls behind a decision, with the shading of their prompts."""
    return [shade_prompt(folder, shard, episode.game, call) for call in words_of(decision, run)]


def _call(call: Call, decode: Decode | None) -> Json:
    texts = token_texts(call.tokens, call.text, decode)
    return {
        "base": call.policy.base,
        "adapter": call.policy.adapter,
        "version": call.policy.version,
        "messages": [{"role": role, "content": content} for role, content in call.prompt.messages],
        "text": call.text,
        "reasoning": call.reasoning,
        "finish": call.finish,
        "temperature": call.sampling.temperature,
        "top_k": call.sampling.top_k,
        "top_p": call.sampling.top_p,
        **({"min_p": call.sampling.min_p} if call.sampling.min_p else {}),
        **({"sampler": call.sampling.sampler} if call.sampling.sampler else {}),
        "num_prompt": call.num_prompt,
        "num_reply": call.num_reply,
        "ms": call.ms,
        "tokens": _tokens(call, texts, decode),
    }


def _tokens(call: Call, texts: Sequence[str | None], decode: Decode | None) -> list[Json]:
    """Return each token with its origin, its probability, and the set that it was sampled from."""
    kinds = [span.kind for span in call.spans for _ in range(span.start, span.end)]
    return [
        {
            "id": token,
            "text": text,
            "kind": kind,
            "p": None if kind == "forced" else _probability(logprob),
            "allowed": None if some is None else len(some),
            "outside": kind == "sampled" and some is not None and token not in some,
            "others": _others(some, token, decode),
        }
        for token, text, kind, logprob, some in zip(
            call.tokens, texts, kinds, call.sampler_logprobs, call.allowed, strict=False
        )
    ]


def _probability(logprob: float) -> float | None:
    return math.exp(min(0.0, logprob)) if math.isfinite(logprob) or logprob < 0 else None


def _others(some: TokenSet | None, token: int, decode: Decode | None) -> list[str]:
    """Return the other tokens of a small allowed set."""
    if some is None or isinstance(some, KeptSet) or decode is None or len(some) > _ALLOWED:
        return []
    return [decode([other]) for other in some if other != token]


def token_texts(tokens: Sequence[int], text: str, decode: Decode | None) -> list[str | None]:
    """Split a reply into the texts of its tokens.

    A character may need several tokens: it stands at the last of them, and the others are empty. None for each token
    where the tokenizer is not here, or does not give the text of the reply.
    """
    if decode is None:
        return [None] * len(tokens)
    texts, start, told = list[str](), 0, 0
    for end in range(1, len(tokens) + 1):
        before, now = decode(tokens[start:told]), decode(tokens[start:end])
        whole = len(now) > len(before) and (end == len(tokens) or not now.endswith("\ufffd"))
        texts.append(now[len(before) :] if whole else "")
        start, told = (told, end) if whole else (start, told)
    return [*texts] if "".join(texts).strip() == text.strip() else [None] * len(tokens)


@lru_cache(maxsize=8)
def _decode(base: str, run: Path | None) -> Decode | None:
    """Return the tokenizer of a model that is on this machine; a name in a record fetches nothing and opens no path."""
    own = decoder(run) if run else None
    path = None if own else _tokenizer(base)
    return own if path is None else read_decoder(path)


def _tokenizer(base: str) -> Path | None:
    """Find the file of the tokenizer of a model that comes with the package, or is in the cache of the Hub."""
    try:
        model = parse_model(base)
        if model.kind in (*BUILT_IN, "smollm2"):
            return folder_of(model) / "tokenizer.json"
        if model.kind == "hf":
            return _cached_file(model.where, model.revision)
    except (StratagemError, ImportError):
        return None
    return None


def _cached_file(name: str, revision: str | None) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "tokenizer.json", revision=revision)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


_PAGE = 100
"""Episodes of a page of the list where a request does not say."""
Asked = Mapping[str, str]
"""Parameters of a request."""


def content_of(library: Library, asked: Asked) -> Json:
    """Return the records, runs and pages of the folder."""
    return {
        "folder": library.root.name or str(library.root),
        "records": [_record(name, path) for name, path in library.records.items()],
        "runs": [
            *(run_row(name, run) for name, run in library.runs.items()),
            *({"name": name, "note": "", "tags": [], **damaged_row(said)} for name, said in library.refused.items()),
        ],
        "pages": [name for name in library.pages if name not in library.cards],
        "audits": [_audit(library, name) for name in library.cards],
    }


def _audit(library: Library, page: str) -> Json:
    """Return an audit with its records; a card that cannot be read is shown as a page."""
    folder = page.rpartition("/")[0]
    told: Json = {"page": page, "folder": folder, "records": library.records_in(folder)}
    try:
        card = read_card(own_file(library.cards[page].with_name("card.json")))
    except StratagemError:
        return {**told, "agent": "", "games": [], "figures": 0, "alarms": []}
    alarms = [figure.name for figure in card.alarms]
    return {**told, "agent": card.agent, "games": card.games, "figures": len(card.figures), "alarms": alarms}


def _record(name: str, path: Path) -> Json:
    try:
        index = episodes_of(path)
    except StratagemError as error:
        return {"name": name, "episodes": 0, "games": [], "players": [], "sentence": sentence_of(error)}
    return {
        "name": name,
        "episodes": len(index),
        "games": index.games.names,
        "players": index.players.names,
        "sentence": "",
    }


def episodes(library: Library, asked: Asked) -> Json:
    """Return a page of the episodes of a record."""
    wanted = Filter(
        illegal=asked.get("illegal", "") == "1",
        **{name: asked.get(name, "") for name in ("player", "game", "purpose", "outcome", "text", "opponent")},
    )
    return list_episodes(
        library.record(require_parameter(asked, "record")),
        wanted,
        offset=number(asked, "offset", 0),
        limit=min(number(asked, "limit", _PAGE), LONGEST_PAGE),
        newest=asked.get("order", "") == "newest",
    )


def episode(library: Library, asked: Asked) -> Json:
    """Return the replay of an episode."""
    folder = library.record(require_parameter(asked, "record"))
    return {**replay_of(folder, require_parameter(asked, "id")), "path": str(folder)}


def words(library: Library, asked: Asked) -> Json:
    """Return the calls behind a decision."""
    folder = library.record(require_parameter(asked, "record"))
    played = load_episode(folder, require_parameter(asked, "id"))
    turn, seat, attempt = (number(asked, name, 0) for name in ("turn", "seat", "attempt"))
    shard, decision = find_row(folder, played.id).shard, decision_at(played, turn, seat, attempt)
    return {"calls": shaded_words(folder, shard, played, decision, library.run_of(folder))}


def run_of(library: Library, asked: Asked) -> Json:
    """Return the page of a run."""
    name = require_parameter(asked, "name")
    run = library.run(name)
    record = next((known for known, path in library.records.items() if path == run.record), None)
    return {**run_page(name, run), "record": record}

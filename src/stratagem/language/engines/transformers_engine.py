"""Engine on one machine: a transformers model that answers many requests, seats, games and adapters in one batch.

Shared prefixes of prompts are computed once and cached for the next batch; a finished reply leaves at once; forced
tokens are read but never drawn; the same prompt under the same weights is computed once, however many replies begin
with it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

import torch

from stratagem.base.errors import CannotCompute
from stratagem.language.engines.ahead import PASS, Forks, branches_of, walks_of
from stratagem.language.engines.base import Call, Capabilities, ScoreRequest, Scores
from stratagem.language.engines.branches import NONE, Branches
from stratagem.language.engines.choose_reader import reader_for
from stratagem.language.engines.local_engine import LocalEngine, loaded_name
from stratagem.language.engines.reader import AdapterText, PrefixReader, SharingReader
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.sampler import draw
from stratagem.language.engines.scoring import score_requests
from stratagem.language.engines.transformers_settings import TransformersSettings
from stratagem.language.models.adapters import adapter_names, drop_adapter, load_adapter
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import complete_model
from stratagem.language.models.standalone import StandaloneLlama

_DEFAULTS = TransformersSettings()


class TransformersEngine(LocalEngine):
    """Engine of one base model and the adapters on it; a reply that is over makes room for the next request."""

    capabilities = Capabilities(masks=True, scores=True, samplers=True)

    def __init__(self, lm: LanguageModel, settings: TransformersSettings = _DEFAULTS) -> None:
        super().__init__(lm)
        self.rows = settings.num_rows
        config = lm.model.config.get_text_config()
        self.longest = int(getattr(config, "max_position_embeddings", 1 << 30))
        """Context length of the model in tokens."""
        self._settings = settings
        self.reader = self._open_reader()
        self._live: list[Reply] = []
        """Replies in progress, by row."""

    def _open_reader(self) -> PrefixReader:
        """Open a reader of the model."""
        settings = self._settings
        reader = reader_for(
            self.lm, settings.prefix_cache_mib * 2**20, settings.packed_weights_mib, graphs=settings.cuda_graphs
        )
        if not isinstance(reader, SharingReader):  # it reads by the caches of transformers
            return self._open_reader() if complete_model(self.lm) else reader
        if settings.kept_graphs is True:
            reader.keep_graphs()
        return reader

    def publish(self, adapter: str, version: int) -> None:
        """Announce that the weights of an adapter (empty: of the base) have changed."""
        self._check_idle()
        self._versions[adapter] = version
        self.reader.forget(adapter)

    def release_copy(self) -> None:
        """Free the packed weights; the next pass packs the present ones."""
        with self._lock:  # another thread may be in a pass by them
            self.reader.release_copy()

    def reset_cache(self) -> None:
        """Forget the cache of earlier batches, so that later results equal those of a new engine."""
        self._check_idle()
        self.reader.reset()

    def _check_idle(self) -> None:
        if self._live:
            raise RuntimeError(f"{len(self._live)} replies are in progress: fetch or cancel them first.")

    def load_adapter(self, path: str) -> str:
        """Load an adapter from its folder; its name in records names the folder and the weights."""
        folder = Path(path).expanduser()
        name = loaded_name(folder)
        with self._lock:
            if name not in adapter_names(self.lm):
                if isinstance(self.lm.model, StandaloneLlama):
                    while self._live:  # their rows are in the memory of the present reader
                        self._finished.update(self._work())
                    complete_model(self.lm)
                    self.reader = self._open_reader()
                load_adapter(self.lm, folder, name)
        return name

    def drop_adapter(self, name: str) -> None:
        """Unload an adapter."""
        self.reader.forget(name)
        self.reader.weights.forget()  # another adapter may have its name
        self._versions.pop(name, None)
        drop_adapter(self.lm, name)

    def _work(self) -> dict[int, Call]:
        """Begin new replies where there is room, and run passes until at least half of all replies are over."""
        start = time.perf_counter()
        calls: dict[int, Call] = {}
        begun = self._begin(calls)
        replies = [*self._live, *begun]
        with ExitStack() as undo:
            undo.callback(self._drop_rows)  # after an interrupt, too, rows that are half read would answer wrongly
            over = self._continue(replies, begun)
            undo.pop_all()
        ms = (time.perf_counter() - start) * 1000.0 / max(1, len(replies))
        for reply in replies:
            reply.ms += ms
        return calls | {reply.ticket: self._call(reply) for reply in over}

    def _drop_rows(self) -> None:
        self._live = []
        self.reader.clear()

    def _continue(self, replies: Sequence[Reply], begun: Sequence[Reply]) -> list[Reply]:
        """Run passes until at least half of the replies are over, and return these."""
        with torch.inference_mode(), self._weights_of(replies):
            if begun:
                self._first_tokens(begun)
            target = len(replies) // 2 if self.reader.ragged else 0
            while self._live and sum(map(self._stays, self._live)) > target:
                self._pass()
            over = [reply for reply in replies if not self._stays(reply)]
            self._leave()
        self.reader.settle()
        return over

    def _begin(self, calls: dict[int, Call]) -> list[Reply]:
        """Take waiting requests, those that begin alike together; the calls of some need no model."""
        room = self.rows - len(self._live)
        # few prompts at a time would cost a pass each; rows of one length cannot be joined at all
        if self._live and (not self.reader.ragged or 2 * room < self.rows):
            return []
        alike: dict[AdapterText, list[int]] = {}  # many requests have one prompt, and to compare prompts takes long
        for ticket, request in self._waiting.items():
            alike.setdefault(AdapterText(request.adapter, request.prompt.tokens), []).append(ticket)
        order = [ticket for text in sorted(alike) for ticket in alike[text]]
        replies = [Reply(self._waiting.pop(ticket), ticket) for ticket in order[:room]]
        for reply in replies:
            reply.take_forced()
        calls |= {reply.ticket: self._call(reply) for reply in replies if reply.over}
        calls |= {
            reply.ticket: self._refusal(reply, self.longest)
            for reply in replies
            if not reply.over and not self._fits(reply)
        }
        return [reply for reply in replies if reply.ticket not in calls]

    def _weights_of(self, replies: Sequence[Reply]) -> AbstractContextManager[None]:
        adapters = [reply.request.adapter for reply in replies]
        return self.reader.weights.under(adapters) if adapters else nullcontext()

    def _abandon(self, tickets: Collection[int]) -> None:
        stay = [row for row, reply in enumerate(self._live) if reply.ticket not in tickets]
        if len(stay) == len(self._live):
            return
        with torch.inference_mode():
            self._live = [self._live[row] for row in self.reader.keep(stay)]

    def _fits(self, reply: Reply) -> bool:
        return 0 < reply.length < self.longest

    def _first_tokens(self, replies: Sequence[Reply]) -> None:
        """Draw first tokens after the prompts, and open rows for the replies that are not over."""
        self.reader.park()
        texts = [reply.text for reply in replies]
        row_of: dict[AdapterText, int] = {}
        rows = [row_of.setdefault(text, len(row_of)) for text in texts]
        logits = self.reader.read(list(row_of), self._ahead_of(replies, rows))
        for reply in replies:
            reply.pending.clear()
        self._draw(logits, list(zip(replies, rows, strict=True)))
        reached = self._draw_known(replies, texts)
        going = [(reply, text) for reply, text in zip(replies, reached, strict=True) if self._stays(reply)]
        self.reader.open([text for _, text in going])
        self._live += [reply for reply, _ in going]

    def _ahead_of(self, replies: Sequence[Reply], rows: Sequence[int]) -> list[Branches]:
        """Return what to read ahead after the text of each row; nothing where several replies begin with it."""
        saved = PASS / len(replies)  # a row's share, since a pass serves all of them
        if not self.reader.ragged:
            return []
        by_row: dict[int, list[Reply]] = {}
        for reply, row in zip(replies, rows, strict=True):
            by_row.setdefault(row, []).append(reply)
        return [branches_of(some[0], saved) if len(some) == 1 else NONE for some in by_row.values()]

    def _draw_known(self, replies: Sequence[Reply], texts: Sequence[AdapterText]) -> list[AdapterText]:
        """Draw on as long as the logits were read ahead, and return the text of each reply that was read."""
        reached = list(texts)
        # in this order, since the test of a protocol takes as long as a short game
        going = [
            n for n, reply in enumerate(replies) if not self._over(reply) and isinstance(reply.request.guide, Forks)
        ]
        while going:
            known = [(number, self.reader.known_logits(replies[number].text)) for number in going]
            rows = [(number, logits) for number, logits in known if logits is not None]
            for number, _ in rows:
                reached[number] = replies[number].text
                replies[number].pending.clear()
            if rows:
                logits = torch.stack([logits for _, logits in rows])
                self._draw(logits, [(replies[number], row) for row, (number, _) in enumerate(rows)])
            going = [number for number, _ in rows if not self._over(replies[number])]
        return reached

    def _over(self, reply: Reply) -> bool:
        return reply.over or reply.length >= self.longest

    def _draw(self, logits: torch.Tensor, rows: Sequence[tuple[Reply, int]]) -> None:
        draws = [reply.draw(row) for reply, row in rows]
        for (reply, _), drawn in zip(rows, draw(logits, draws), strict=True):
            reply.take(drawn)

    def _pass(self) -> None:
        """Run one pass over the replies that are not over."""
        self._leave()
        live = self._live
        width = width_for([len(reply.pending) for reply in live]) if self.reader.ragged else 1
        pending = [reply.pending[:width] for reply in live]
        for reply in live:
            del reply.pending[:width]
        if not self.reader.ragged:
            logits = self.reader.go_on(pending)
            self._draw(logits, [(r, row) for row, r in enumerate(live) if not r.pending and not self._over(r)])
            return
        saved = PASS / len(live)
        branches = [
            branches_of(reply, saved) if now and not reply.pending and not self._over(reply) else NONE
            for reply, now in zip(live, pending, strict=True)
        ]
        logits = self.reader.go_on(pending, branches)
        walks = walks_of(live, branches)
        while drawing := [walk for walk in walks if walk.ready and not self._over(walk.reply)]:
            self._draw(logits, [(walk.reply, walk.place) for walk in drawing])
            for walk in drawing:
                walk.follow()
        self.reader.take([walk.path for walk in walks])

    def _leave(self) -> None:
        """Remove the rows whose replies are over; replies that a later prompt extends are read to their end."""
        live = self._live
        stay = [row for row, reply in enumerate(live) if self._stays(reply)]
        for row, reply in enumerate(live):
            if not self._stays(reply) and reply.request.extended:
                self.reader.retain(row, reply.text)
        if len(stay) < len(live):
            self._live = [live[row] for row in self.reader.keep(stay)]

    def _stays(self, reply: Reply) -> bool:
        return not self._over(reply) or bool(reply.request.extended and reply.pending)

    def score(self, requests: Sequence[ScoreRequest]) -> list[Scores]:
        for request in requests:
            most = len(request.prompt.tokens) + max((len(ask.said) for ask in request.nodes), default=0)
            if not request.prompt.tokens or most >= self.longest:
                raise CannotCompute(self._too_long(request.prompt, self.longest))
        with self._lock, torch.inference_mode():
            self.reader.park()
            try:
                return score_requests(self.reader, requests, self.rows)
            finally:
                self.reader.open([])


def width_for(pending: Sequence[int]) -> int:
    """Return the number of tokens a row to read in the next pass: the width with the best ratio of tokens to cost."""
    best, best_ratio = 1, 0.0
    for width in sorted(set(pending)):
        ratio = sum(min(count, width) for count in pending) / (PASS + len(pending) * width)
        if ratio > best_ratio:
            best, best_ratio = width, ratio
    return best

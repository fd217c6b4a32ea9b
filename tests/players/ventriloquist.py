"""An engine that says what a test puts into its mouth, byte by byte, and obeys guides as an engine must."""

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, Capabilities, PolicyId, Prompt, Span
from stratagem.language.engines.streaming import BatchEngine
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Ask
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker

END = 256


class Bytes:
    """Every byte is a token, so that characters and tags come torn; the last token ends a reply."""

    size, end = END + 1, END

    def __init__(self):
        self.spelt = {}

    def encode(self, text):
        return list(text.encode())

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        runs = [[]]
        for token in ids:
            if token == END:
                runs.append([])
            else:
                runs[-1].append(token)
        return "<|end|>".join(bytes(run).decode(errors="replace") for run in runs)

    def decode_all(self, rows):
        return [self.decode(row) for row in rows]


class Ventriloquist(BatchEngine):
    """`lines` are what it wants to say, one a request, as text or tokens; at their end it ends, or starts again."""

    name = "dummy"
    ends = frozenset({END})

    def __init__(self, lines, *, masks=True, fails=(), babbles=False, opening=""):
        super().__init__()
        self.lines = list(lines)
        self.fails, self.babbles, self.opening = fails, babbles, opening
        self.capabilities = Capabilities(masks=masks, scores=False)
        self.requests, self.calls = [], []
        self._vocabulary = Bytes()

    @property
    def vocabulary(self):
        assert self.capabilities.masks, "a server has no vocabulary"
        return self._vocabulary

    def begin(self, messages):
        text = "".join(f"[{role}]{content}" for role, content in messages) + "[assistant]" + self.opening
        return Prompt(tuple(messages), tuple(self._vocabulary.encode(text)))

    def follow(self, call, user):
        messages = (*call.prompt.messages, ("assistant", call.text), ("user", user))
        said = tuple(token for token in call.tokens if token != END)
        rest = tuple(self._vocabulary.encode(f"[user]{user}[assistant]"))
        return Prompt(messages, (*call.prompt.tokens, *said, *rest))

    def answer(self, requests):
        return [self._answered(request) for request in requests]

    def _answered(self, request):
        number = len(self.requests)
        self.requests.append(request)
        policy = PolicyId(self.name)
        if number in self.fails:
            call = Call(policy=policy, prompt=request.prompt, text="The server is away.", finish="error")
        elif not self.capabilities.masks:
            call = Call(policy=policy, prompt=request.prompt, text=self.lines[number % len(self.lines)])
        else:
            call = self._spoken(request, self.lines[number % len(self.lines)])
        self.calls.append(call)
        return call

    def _spoken(self, request, line):
        wanted = self._vocabulary.encode(line) if isinstance(line, str) else list(line)
        guide, tokens, kinds, place = request.guide, [], [], 0
        while not guide.done and len(tokens) < request.max_new_tokens:
            own = wanted[place % len(wanted)] if wanted and (self.babbles or place < len(wanted)) else END
            if run := list(guide.forced):
                token, kind = run[0], "forced"
            else:
                allowed = guide.allowed
                token, kind = own if allowed is None or own in allowed else allowed[0], "sampled"
            place += kind == "sampled" or token == own
            guide.advance(token)
            tokens.append(token)
            kinds.append(kind)
        return Call(
            policy=PolicyId(self.name),
            prompt=request.prompt,
            text=self._vocabulary.decode([token for token in tokens if token != END]),
            tokens=tuple(tokens),
            spans=tuple(Span(kind, place, place + 1) for place, kind in enumerate(kinds)),
            finish="done" if guide.done else "length",
        )


def player_of(engine, mode, style="plain", **options):
    """The player that speaks with this engine."""
    return ModelPlayer(name="dummy", speaker=Speaker(engine=engine, style=make_style(style), **options), mode=mode)


def turn_of(player, game="kuhn", key=1):
    """The move that a player makes in the first situation of a game, all its requests answered."""
    view = first_view(game)
    turn = player.turn(Ask(view, Key(key), 0, 0, 0, None))
    try:
        request = next(turn)
        while True:
            request = turn.send(request.engine.answer([request])[0])
    except StopIteration as stop:
        return stop.value


def first_view(game="kuhn"):
    """Return the view of the first seat of a game."""
    state = make_game(game).start(Key(1)) if isinstance(game, str) else game.start(Key(1))
    return state.view(state.to_act[0])

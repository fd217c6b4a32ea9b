"""Player of the tests that asks an endpoint by the openai client, with the whole key of its draws as the seed."""

from dataclasses import dataclass, field
from typing import Any

from stratagem.language.prompting.plain import Plain
from stratagem.players.base import Move, Traits


@dataclass
class RemoteSeat:
    """Seat of a served player; `sends` is what tells the position: the state, or a prompt of ours."""

    client: Any
    model: str
    sends: str
    answers: list = field(default_factory=list)

    @property
    def name(self):
        return f"remote {self.model}"

    @property
    def traits(self):
        return Traits(stochastic=True, sees_hidden=True)

    def policy(self, view):
        raise AssertionError("an endpoint is asked for moves")

    def turn(self, ask):
        messages = [message._asdict() for message in Plain().messages(ask.view)]
        extra = {"stratagem": {"state": ask.peek().dump(), "seat": ask.view.seat}} if self.sends == "state" else {}
        answer = self.client.chat.completions.create(
            model=self.model, messages=messages, seed=ask.key.value, extra_body=extra
        )
        self.answers.append(answer)
        return Move(answer.choices[0].message.content)

"""`stratagem prompt`: the prompts of a game, in which what is new since the prompt before is green."""

from __future__ import annotations

from stratagem.cli.call import CommandCall, print_call
from stratagem.cli.console import out
from stratagem.show.console import VisibleText


def show_prompts(call: CommandCall) -> None:
    """Print prompts with the part that the prompt before has, too, in dim letters."""
    if call.json:
        print_call(call)
        return
    shown = call.carry_out()
    for title, one in zip(shown.titles(), shown.prompts, strict=True):
        out.print(VisibleText(title, style="bold"))
        begun, new = "".join(one.pieces[: one.shared]), "".join(one.pieces[one.shared :])
        out.print(VisibleText(begun, style="dim") + VisibleText(new, style="green"))
        out.print()
    for sentence in shown.untold:
        out.print(VisibleText(sentence, style="yellow"))

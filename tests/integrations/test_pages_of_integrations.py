"""Blocks of the pages Coming from ..., run with the packages that they are about; by `make test-integrations`."""

import contextlib
import io
import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to"
BLOCK = re.compile(r"^```py\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
CALL = '<tool_call>\n{"name": "play", "arguments": {"message": "BET"}}\n</tool_call>'


def run(name, names, folder, blocks=slice(None)):
    """Run blocks of a page in order, with some names given; return what they print and what the page shows."""
    printed, shown = [], []
    with contextlib.chdir(folder):
        for block in list(BLOCK.finditer((HOW_TO / f"{name}.md").read_text("utf-8")))[blocks]:
            code, text = block.groups()
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, name, "exec"), names)
            if text is not None:
                printed.append(out.getvalue())
                shown.append(text)
    return printed, shown


@pytest.mark.parametrize(
    ("name", "packages"),
    [("coming-from-pettingzoo", ["pettingzoo", "diplomacy"]), ("coming-from-textarena", ["textarena"])],
)
def test_blocks_print_what_the_page_shows(name, packages, tmp_path):
    for package in packages:
        pytest.importorskip(package)
    printed, shown = run(name, {}, tmp_path)
    assert printed == shown


def test_the_settings_of_trl_exist():
    pytest.importorskip("trl")
    names = {}
    run("coming-from-trl", names, HOW_TO)
    assert names["settings"].num_generations == 8


def test_blocks_of_openenv_serve_and_train(tmp_path):
    for package in ("openenv", "trl"):
        pytest.importorskip(package)
    from servers_of_openenv import serving

    names = {}
    run("coming-from-openenv", names, tmp_path, slice(1))
    with serving(names["server"]) as names["ADDRESS"]:
        printed, shown = run("coming-from-openenv", names, tmp_path, slice(1, 2))
        assert printed == shown
        run("coming-from-openenv", names, tmp_path, slice(2, 3))
        names["MODEL"] = calling_model(names["Seat"](), tmp_path / "model")
        run("coming-from-openenv", names, tmp_path, slice(3, None))
    logged = names["trainer"].state.log_history
    assert len(logged) == 4  # three steps and a summary
    assert all(step["tools/call_frequency"] > 0 for step in logged[:3])
    assert all(-2.0 <= step["rewards/Seat/mean"] <= 2.0 for step in logged[:3])
    assert any(step["rewards/Seat/mean"] != 0.0 for step in logged[:3])


def calling_model(seat, folder):
    """Make the folder of a tiny model that was trained to call the tool of a seat."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl.chat_template_utils import qwen3_chat_template

    from stratagem.language.models.tiny import tiny_folder

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder("tiny"), padding_side="left")
    tokenizer.chat_template = qwen3_chat_template
    model = AutoModelForCausalLM.from_pretrained(tiny_folder("tiny"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    answer = [*tokenizer(CALL, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    for step in range(100):
        asked = [{"role": "user", "content": f"Play by calling the tool.\n\n{seat.reset(deal=step % 10)}"}]
        prompt = tokenizer.apply_chat_template(asked, tools=[seat.play], add_generation_prompt=True, return_dict=False)
        labels = torch.tensor([[-100] * len(prompt) + answer])
        model(input_ids=torch.tensor([prompt + answer]), labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)

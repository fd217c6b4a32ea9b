"""The model for Diplomacy: so large, drawn the same everywhere, and with a token for every place."""

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy.graph import graph_of
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.language.models.small import small_folder


@pytest.fixture(scope="module")
def small():
    return load("small")


def test_it_has_three_to_ten_million_parameters(small):
    assert 3e6 < sum(weight.numel() for weight in small.model.parameters()) < 1e7


def test_a_place_is_one_token_wherever_it_stands(small):
    for node in graph_of("standard").nodes:
        kind, place = small.tokenizer.encode(node, add_special_tokens=False)
        assert small.tokenizer.decode([place]) == node[1:]
        assert small.tokenizer.encode(f"A BUR S {node}", add_special_tokens=False)[-1] == place
        assert small.tokenizer.decode([kind]) in "AF"


def test_a_board_takes_few_tokens_and_comes_back_unchanged(small):
    text = make_game("diplomacy").start(Key(0)).view(2).situation
    ids = small.tokenizer.encode(text, add_special_tokens=False)
    assert len(ids) < 200
    assert small.tokenizer.decode(ids) == text


def test_drawn_anew_it_is_the_same(small, tmp_path, monkeypatch):
    first = small_folder()
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path))
    again = small_folder()
    assert again != first
    assert again.name == first.name
    for name in ("model.safetensors", "tokenizer.json"):
        assert (again / name).read_bytes() == (first / name).read_bytes()

"""Names of games in requests and in records of others: nothing is allocated, and no file is read, at their word."""

import pytest
from page_client import Pages

from forks import forked_program
from stratagem.base.errors import StratagemError

SECRET = "THE SECRET OF THE SECOND LINE"
PROGRAM = """
import resource, sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from page_client import Pages
from shown_folder import episodes_of

from stratagem.playing.store import write_shard

root, name = Path(sys.argv[2]), sys.argv[3]
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # threads of the server take room and no memory
episodes = [replace(episode, game=name) for episode in episodes_of("kuhn", ["random", "random"])]
write_shard(root / "games", 0, episodes)
pages, id = Pages(root), episodes[0].id
pages.get("game", status=400, name=name)
pages.get("regrets", status=400, game=name, player="random")
pages.do("policy", status=400, game=name, player="random")
pages.do("sit", status=400, game=name, seat=0, players={"1": "random"})
for page, query in {
    "episodes": {}, "episode": {"id": id}, "position": {"id": id, "turn": 0}, "decisions": {}, "checks": {},
    "words": {"id": id}, "subjects": {"game": name},
}.items():
    pages.heard.append(pages.http.get(f"/api/{page}", params={"record": "games", **query}).text)
# unlike ru_maxrss, it does not survive an exec: it is not that of the process which started this one
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) >> 10)
print("\\n".join(pages.heard))
"""


def heard(tests, root, name):
    """Return the megabytes that a viewer needed, and all that it said about a game."""
    status, printed = forked_program(PROGRAM, tests, root, name, work=root.parent, scratch=root.parent)
    assert status == 0, printed[-3000:]
    used, _, said = printed.partition("\n")
    return int(used), said


@pytest.mark.linux
@pytest.mark.parametrize("name", ["spiel:hex(board_size=100000)", "public-goods(seats=100000000)"])
def test_viewer_allocates_nothing_for_a_huge_game(name, request, tmp_path):
    used, said = heard(request.path.parent, tmp_path / "shown", name)
    assert used < 2048, "what a viewer takes by itself, and not the 20 GB of the game"
    assert "your own command" in said


@pytest.mark.parametrize("name", ["spiel:efg_game(filename={})", "talk(spiel:nfg_game(filename={}),words=[a])"])
def test_viewer_reads_no_file_that_a_page_or_a_record_names(name, request, tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text(f"first line\n{SECRET}\n", encoding="utf-8")
    _, said = heard(request.path.parent, tmp_path / "shown", name.format(file))
    assert "--allow-file" in said
    assert SECRET not in said
    assert "first line" not in said


def test_recipe_makes_no_huge_game_and_reads_no_file(tmp_path):
    pytest.importorskip("torch")
    import stratagem as sg

    file = tmp_path / "secret.txt"
    file.write_text(f"first line\n{SECRET}\n", encoding="utf-8")
    (tmp_path / "evil").mkdir()
    names = {"spiel:hex(board_size=100000)": "your own command", f"spiel:efg_game(filename={file})": "would read"}
    for name, said in names.items():
        recipe = tmp_path / "evil" / "recipe.toml"
        recipe.write_text(f'algorithm = "grpo"\nmodel = "tiny"\ngames = ["{name}"]\n', encoding="utf-8")
        with pytest.raises(StratagemError, match=said) as refused:
            sg.dry_run(recipe)
        assert SECRET not in str(refused.value)


def test_pages_answer_about_a_usual_game(tmp_path):
    assert Pages(tmp_path).get("game", name="spiel:hex(board_size=5)")["seats"] == ["seat 0", "seat 1"]

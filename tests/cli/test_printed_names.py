"""Long names of players in the tables of `eval`: numbers, with the names below the first table."""

from stratagem.show.evaluation_tables import LONGEST

LONG = "noise(noise(noise(NashApprox, p=0.125), p=0.0625), p=0.03125)"
SEEN = "noise(noise(noise(kuhn/NashApprox, p=0.125), p=0.0625), p=0.03125)"
SHORT = "noise(NashApprox, p=0.125)"


def printed(run, *words):
    code, text, _ = run("eval", "kuhn", *words, "--episodes", "4")
    assert code == 0
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_long_name_is_a_number_that_stands_above_the_tables(run):
    assert len(SEEN) > LONGEST
    lines = printed(run, "--player", LONG, "--player", SHORT, "--player", LONG.replace("0.125", "0.25"))
    assert [line for line in lines if " is noise" in line] == [
        f"[1] is {SEEN}",
        f"[2] is {SEEN.replace('0.125', '0.25')}",
    ]
    assert sum(SEEN in line for line in lines) == 1
    rows = [line.split()[0] for line in lines[2:] if line.startswith(("[", "noise(")) and "noise(noise" not in line]
    assert [row for row in rows if row][:3] == ["[1]", "noise(kuhn/NashApprox,", "[2]"]
    assert any(line.startswith("[2] minus [1]:") for line in lines)


def test_an_opponent_and_a_disguised_player_have_numbers_too(run):
    lines = printed(run, "--player", LONG, "--opponents", SHORT, "--disguise", "1", "--all", "--no-chance")
    assert f"[1] is {SEEN}" in lines
    assert any(line.startswith("[2] is noise(noise(noise(disguise(kuhn/NashApprox, seed=1)") for line in lines)
    assert any(line.startswith("[2] ") and "proved on all" in line for line in lines[2:])
    assert any(line.startswith("[1] noise(kuhn/NashApprox, p=0.125)") for line in lines)


def test_short_names_are_printed_as_they_are(run):
    lines = printed(run, "--player", SHORT)
    assert lines[0].startswith("kuhn")
    assert not any(line.startswith("[") for line in lines)

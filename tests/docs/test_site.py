"""The parts of the documentation site that are ours: contents, diagrams, versions and the check of links."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
sys.path.insert(0, str(SITE))
import conf  # noqa: E402
import links  # noqa: E402
import moved  # noqa: E402
import plain_pages  # noqa: E402
import reference  # noqa: E402
import releases  # noqa: E402
import sequence  # noqa: E402
import versions  # noqa: E402

DIAGRAM = (
    "```mermaid\nsequenceDiagram\n    participant A as Asker\n    participant B as <b>\n"
    "    A->>B: why?\n    B->>B: think\n```"
)


def test_contents_have_every_page_of_the_index_once():
    index = reference.lead_to_pages((ROOT / "docs" / "index.md").read_text("utf-8"), "docs/index")
    listed = re.findall(r"^([\w./-]+\.md)$", conf.contents(index), re.MULTILINE)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    generated = re.findall("^## (.*)", (ROOT / "docs/reference/README.md").read_text("utf-8"), re.MULTILINE)
    assert set(listed) == pages | {f"reference/{name}.md" for name in generated} | {
        *("../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md")
    }
    assert len(listed) == len(set(listed))


def test_a_link_to_the_list_of_the_reference_leads_to_the_page_on_the_site():
    page = 'See [kuhn](../reference/README.md#games "kuhn"), [list](../reference/README.md), [top](README.md#games).'
    assert reference.lead_to_pages(page, "docs/how-to/page") == (
        "See [kuhn](../reference/games.md#kuhn), [list](../reference/README.md), [top](README.md#games)."
    )
    assert (
        reference.lead_to_pages("`map.md`: [it](README.md#map)", "docs/reference/README")
        == "[map](map.md): [it](map.md)"
    )


def test_a_diagram_is_drawn_and_its_words_are_escaped():
    page = sequence.drawn(f"before\n\n{DIAGRAM}\n\nafter")
    assert page.startswith("before")
    assert page.endswith("after")
    assert "mermaid" not in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<path") == 4
    assert ">why?</text>" in page


def test_a_diagram_in_another_form_is_refused():
    with pytest.raises(ValueError, match="loop every day"):
        sequence.picture("participant A as Asker\nloop every day")


def test_every_diagram_of_the_pages_can_be_drawn():
    for page in (ROOT / "docs").rglob("*.md"):
        assert "```mermaid" not in sequence.drawn(page.read_text("utf-8")), page


@pytest.fixture
def built(tmp_path):
    (tmp_path / "1.0").mkdir()
    (tmp_path / "1.0" / "index.html").write_text(
        '<h1 id="top">x</h1><a href="a%20b.html#here">to it</a><img src="https://x.example/p.png">'
    )
    (tmp_path / "1.0" / "a b.html").write_text(
        '<p id="here"><a href="index.html">back</a><a href="../1.0/">all</a></p>'
    )
    return tmp_path


def test_a_site_without_broken_links_passes(built, capsys):
    assert links.main(str(built)) == 0
    assert "2 pages, 3 links inside, 0 broken, 1 to other hosts" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("gone.html", "no such file"),
        ("index.html#gone", "no such place"),
        ("#gone", "no such place"),
        ("../../secret", "leaves the site"),
    ],
)
def test_a_broken_link_is_named(built, capsys, link, why):
    (built / "1.0" / "bad.html").write_text(f'<a href="{link}">x</a>')
    assert links.main(str(built)) == 1
    assert f"1.0/bad.html: {link}: " in (said := capsys.readouterr().out)
    assert why in said


def test_a_site_without_pages_does_not_pass(tmp_path):
    assert links.main(str(tmp_path)) == 1


def test_the_first_page_leads_to_the_newest_version(built):
    (built / "0.10").mkdir()
    (built / "0.9.1").mkdir()
    (built / "assets").mkdir()
    versions.main(built)
    assert '["1.0", "0.10", "0.9.1"]' in (built / "versions.js").read_text("utf-8")
    assert "url=1.0/index.html" in (built / "index.html").read_text("utf-8")


def test_a_folder_without_versions_is_refused_in_a_sentence(tmp_path):
    done = subprocess.run([sys.executable, SITE / "versions.py", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "holds no built version" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", moved.MOVED)
def test_a_moved_page_leads_to_a_heading_that_exists(page):
    target, heading = moved.MOVED[page]
    assert not (ROOT / f"{page}.md").exists()
    headings = re.findall(r"^#+ (.*)$", (ROOT / f"{target}.md").read_text("utf-8"), re.MULTILINE)
    assert heading in {title.lower().replace(" ", "-") for title in headings}
    assert conf.html_additional_pages[page] == moved.TEMPLATE


def test_the_page_at_an_old_address_leads_to_the_new_one():
    template = Environment(loader=FileSystemLoader(SITE / "templates"), autoescape=True).get_template(moved.TEMPLATE)
    context = {**conf.html_context, "pagename": "docs/results/gpu", "pathto": "../../{}.html".format}
    said = template.render(context)
    assert 'content="0; url=../../docs/results/performance.html#gpu"' in said
    assert '<a href="../../docs/results/performance.html#gpu">' in said


def test_programs_find_every_page_of_the_list_as_markdown(tmp_path):
    assert plain_pages.write_pages(tmp_path) > 100
    listed = (tmp_path / "llms.txt").read_text("utf-8")
    title, blank, summary = listed.splitlines()[:3]
    assert (title, blank, summary[:12]) == ("# Stratagem", "", "> Stratagem ")
    linked = {target.partition("#")[0] for target in plain_pages.LINK.findall(listed)}
    assert {"docs/reference/games.md", "docs/results/what-we-found.md", "examples/notebooks/train.ipynb"} <= linked
    written = {name for name in linked if (tmp_path / name).is_file()}
    assert all(name.startswith("docs/reference/") for name in linked - written), "others than generated pages"
    assert (tmp_path / "README.md").read_text("utf-8").startswith("# Stratagem\n")


def test_links_of_the_list_begin_at_the_folder_of_the_version():
    index = (
        "# T\n\nA summary\nof two lines.\n\n## First\n\n- [a](b/c.md#d), [e](../README.md), [f](https://g.example)\n"
    )
    assert plain_pages.listed(index) == (
        "# T\n\n> A summary of two lines.\n\n## First\n\n- [a](docs/b/c.md#d), [e](README.md), [f](https://g.example)\n"
    )


def test_former_releases_are_those_of_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    dated = re.findall(r"^## \[([\d.]+)\] - ", text, re.MULTILINE)
    assert list(releases.RELEASES) == [version for version in dated if version not in (conf.version, "0.1.0")]


def test_the_pages_of_a_release_are_built_once_and_left_out_where_history_is_cut(tmp_path, monkeypatch, capsys):
    built = []
    monkeypatch.setattr(releases, "RELEASES", {"0.1": "0" * 40, "0.2": "a", "0.3": "b"})
    monkeypatch.setattr(releases, "read_tree", lambda commit: None if commit == "0" * 40 else commit.encode())
    monkeypatch.setattr(releases, "build", lambda archive, target: built.append((archive, target.name)))
    (tmp_path / "0.3").mkdir()
    (tmp_path / "0.3/index.html").touch()
    releases.main(tmp_path)
    assert built == [(b"a", "0.2")]
    assert "0.1 are left out" in capsys.readouterr().out


def test_pages_of_a_release_appear_as_a_whole_after_a_build_that_was_killed(tmp_path, monkeypatch):
    built, target = tmp_path / "built", tmp_path / "site/0.2"
    for name in ("built", "site/0.2", "site/.0.2"):
        (tmp_path / name).mkdir(parents=True)
    (built / "index.html").write_text("new")
    (target / "half.html").write_text("old")
    (tmp_path / "site/.0.2/half.html").write_text("old")
    releases.move(built, target)
    assert [path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.*")] == [
        "0.2",
        "0.2/index.html",
    ]
    (target / "index.html").unlink()
    monkeypatch.setattr(releases.shutil, "copytree", lambda built, partial: partial.mkdir() or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        releases.move(built, target)
    assert not target.exists()


def test_the_tree_of_a_commit_that_is_not_here_is_none():
    assert releases.read_tree("0" * 40) is None


def test_history_has_the_commit_of_each_release():
    asked = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True)
    if asked.stdout.strip() != "false":
        pytest.skip("no whole history here")
    for version, commit in releases.RELEASES.items():
        text = subprocess.run(
            ["git", "show", f"{commit}:src/stratagem/__init__.py"], cwd=ROOT, capture_output=True, text=True
        )
        assert f'"{version}"' in text.stdout

"""Boards as the page draws them: the modules of the faces read the frames of an episode by node, without a page."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from browser import lacking

from stratagem.show.viewer.files import STATIC

FACES = "export const drawn = (Component, read = (frame) => frame) => ({ mount: read, render: read, unmount: read });"
"""Stand-in of `faces.js`: a face is what reads its frames."""
PROGRAM = """
globalThis.location = { pathname: '/', hash: '' };
const boards = [];
const episodes = JSON.parse(require('fs').readFileSync(0, 'utf-8'));
for (const { face, board, frames, turns } of episodes) {
  const { mount } = await import(`${process.argv[1]}/face_${face}.js`);
  const turn = (place) => (place && !frames[place].talked ? turns[place - 1] : null);
  boards.push(frames.map((frame, place) => mount(frame, board, frames[place - 1] ?? null, turn(place))));
}
console.log(JSON.stringify(boards));
"""


@cache
def _modules():
    folder = Path(mkdtemp(prefix="boards-"))
    for path in STATIC.glob("*.js"):
        shutil.copy(path, folder)
    (folder / "faces.js").write_text(FACES)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def boards_of(*episodes):
    """Return for each told episode what the board shows at the start and after each turn."""
    if shutil.which("node") is None:
        lacking("node", "install Node.js 20 or later")
    command = ["node", "-e", f"(async () => {{{PROGRAM}}})()", str(_modules())]
    run = subprocess.run(command, input=json.dumps(episodes), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)

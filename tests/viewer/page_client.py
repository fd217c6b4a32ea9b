"""Requests to the viewer as its own pages send them, and the other side of a connection of a job."""

import time

from starlette.testclient import TestClient

from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.jobs import ENDED
from stratagem.show.viewer.studio import Studio

ADDRESS = "http://127.0.0.1:8150"


class Wire:
    """Connection whose other side is a test."""

    def __init__(self, replies=()):
        self.sent = []
        self.replies = list(replies)

    def send(self, message):
        self.sent.append(message)

    def recv(self):
        reply = self.replies.pop(0)
        return reply(self) if callable(reply) else reply


class Pages:
    """Client of a viewer over a folder; every byte that comes is kept."""

    def __init__(self, root, prices=None, token=""):
        self.studio = Studio(root, prices)
        self.http = TestClient(Viewer(self.studio, token=token).application(), base_url=ADDRESS)
        self.heard = []

    def get(self, page, /, status=200, **query):
        return self._told(self.http.get(f"/api/{page}", params=query), status)

    def do(self, act, /, status=200, **body):
        return self._told(self.http.post(f"/api/do/{act}", json=body, headers={"origin": ADDRESS}), status)

    def _told(self, answer, status):
        assert answer.status_code == status, answer.text
        self.heard.append(answer.text)
        return answer.json()

    def ended(self, job, seconds=60.0):
        """The job when it has ended."""
        until = time.monotonic() + seconds
        while job["state"] not in ENDED:
            assert time.monotonic() < until, job
            time.sleep(0.05)
            job = self.get("job", id=job["id"])
        return job


def ask(client, page, status=200, **query):
    """Return the data of a page, which answers with this status."""
    answer = client.get(f"/api/{page}", params=query)
    assert answer.status_code == status, answer.text
    return answer.json()

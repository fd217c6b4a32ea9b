"""A server on loopback that answers as a test tells it to, and notes what it was asked."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(text, *, finish="stop", prompt=7, reply=3):
    """The body of a chat completion."""
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
    }


class FakeServer:
    """`answer(exchange)` is called for each chat request; `models` is what GET /models tells, None for nothing."""

    def __init__(self, answer, port=0):
        self.answer = answer
        self.models = None
        self.asked = []
        self.paths = []
        self.connects = []
        self.times = []
        self.headers = []
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), self._handler())
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.02), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def close(self):
        """Give the port back without ever having answered."""
        self._http.server_close()

    def note(self, body, headers):
        with self._lock:
            self.asked.append(body)
            self.times.append(time.monotonic())
            self.headers.append(headers)
            return len(self.asked)

    def _handler(self):
        server = self

        class Exchange(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.paths.append(self.path)
                self.number, self.body = server.note(body, {k.lower(): v for k, v in self.headers.items()}), body
                server.answer(self)

            def do_CONNECT(self):
                """Note where a client would go by this server as its proxy, and refuse."""
                server.connects.append(self.path)
                self.send_error(502)

            def do_GET(self):
                if server.models is None:
                    return self.send(404, "not found")
                return self.send(200, {"data": [{"id": name} for name in server.models]})

            def say(self, text, **more):
                self.send(200, completion(text, **more))

            def send(self, status, content, **headers):
                """A whole answer: JSON, or text or bytes as they stand."""
                data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else None
                data = json.dumps(content).encode() if data is None else data
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                """Say nothing on the terminal."""

        return Exchange


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, *_):
        """A client that gave up is part of the tests."""

"""A stand-in for vLLM's OpenAI server: its paths and its JSON, over `FakeVLLM`."""

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fake_vllm import FakeVLLM
from stratagem.language.engines.local_engine import vocabulary_of
from stratagem.language.engines.vllm.served import check_data


class FakeVLLMServer:
    """A server of one base, on loopback; `answer` may be replaced to answer a path otherwise."""

    def __init__(self, folder, *, version=2, longest=0, slots=9, rows=64, port=0):
        self.vllm = FakeVLLM(folder, "fp32", rows=rows, longest=longest, slots=slots, version=version, serves=True)
        self.vocabulary = vocabulary_of(self.vllm.lm.tokenizer, int(self.vllm.lm.tokenizer.eos_token_id))
        self.asked = []
        self.headers = []
        self.refuse = lambda path, body: None
        """Function of a path and a body that returns a status and a message, or None."""
        self._open = {}
        self._new = threading.Condition()
        self._stopped = False
        self._http = _Http(("127.0.0.1", port), self._handler())
        self.port = self._http.server_port
        self.address = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        for work in (lambda: self._http.serve_forever(poll_interval=0.02), self._steps):
            threading.Thread(target=work, daemon=True).start()
        return self

    def __exit__(self, *_):
        with self._new:
            self._stopped = True
            self._new.notify()
        self._http.shutdown()
        self._http.server_close()
        for answer in self._open.values():
            answer.put(None)

    def _steps(self):
        """Run steps while requests are open."""
        while True:
            with self._new:
                self._new.wait_for(lambda: self._stopped or self.vllm.requests)
                if self._stopped:
                    return
                outputs = self.vllm.run()
            for name, token, best, over in outputs:
                self._open[name].put((token, best, over))

    def complete(self, body):
        extra = body["vllm_xargs"]
        check_data(extra)
        lora = None if body["model"] == "base" else body["model"]
        answer = queue.SimpleQueue()
        with self._new:
            name = self.vllm.add_request(
                extra, body["prompt"], body["max_tokens"], lora, body["stop_token_ids"][0], body["logprobs"]
            )
            self._open[name] = answer
            self._new.notify()
        tokens, top, over = [], [], False
        while not over:
            if (got := answer.get()) is None:
                raise ConnectionError
            token, best, over = got
            tokens.append(token)
            top.append({f"token_id:{other}": max(value, -9999.0) for other, value in best.items()})
        del self._open[name]
        return {"choices": [{"token_ids": tokens, "logprobs": {"top_logprobs": top}}]}

    def post(self, path, body):
        """A status and what to answer."""
        if (refused := self.refuse(path, body)) is not None:
            return refused
        if path == "/v1/completions":
            if body["model"] not in ("base", *self.vllm.loras):
                return 404, {"error": {"message": f"The model `{body['model']}` does not exist."}}
            try:
                return 200, self.complete(body)
            except ValueError as error:
                return 400, {"error": {"message": str(error)}}
        if path == "/tokenize":
            return 200, {"tokens": self.vocabulary.encode(body["prompt"])}
        if path == "/v1/load_lora_adapter":
            with self._new:
                self.vllm.load(body["lora_name"], Path(body["lora_path"]))
            return 200, "Success"
        if path == "/v1/unload_lora_adapter":
            known = self.vllm.loras.pop(body["lora_name"], None)
            return (200, "Success") if known else (404, {"error": {"message": "no such adapter"}})
        return 404, {"detail": "Not Found"}

    def models(self):
        base = {"id": "base", "parent": None, "max_model_len": self.vllm.longest}
        return {"data": [base, *({"id": name, "parent": "base"} for name in self.vllm.loras)]}

    def _handler(self):
        server = self

        class Exchange(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, body))
                server.headers.append(dict(self.headers))
                try:
                    self.send(*server.post(self.path, body))
                except ConnectionError:
                    self.close_connection = True

            def do_GET(self):
                refused = server.refuse(self.path, None)
                self.send(*(refused or (200, server.models()) if self.path == "/v1/models" else (404, {})))

            def send(self, status, content):
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                """Say nothing on the terminal."""

        return Exchange


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, *_):
        """A client that gave up is part of the tests."""

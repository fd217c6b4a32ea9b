"""A server of OpenEnv in this process, for tests."""

import threading
import time
from contextlib import contextmanager

import uvicorn


@contextmanager
def serving(app):
    """Serve an application within, and yield its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()

"""Web floor: what the viewer and the endpoint share, from the checks of a request to the start of the server."""

from importlib.util import find_spec

from stratagem.base.errors import MissingExtra


def check_web_installed(what: str) -> None:
    """Refuse to open a server where its packages are missing; `what` begins the sentence."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra(what, "serve")

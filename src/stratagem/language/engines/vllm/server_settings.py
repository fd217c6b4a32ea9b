"""Settings of the engine of a vLLM server; importing this imports neither torch nor a client."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

from stratagem.base.errors import BadParameter, MissingExtra
from stratagem.base.hosts import check_encrypted
from stratagem.base.options import whole

ENGINE = "The engine vllm-server"


def missing() -> str | None:
    """Return the sentence that says how to install the client; None where it is installed."""
    return None if find_spec("openai") and find_spec("httpx2") else str(MissingExtra(ENGINE, "api"))


def check_installed() -> None:
    """Refuse the engine where its client is not installed."""
    if missing():
        raise MissingExtra(ENGINE, "api")


@dataclass(frozen=True, kw_only=True)
class VLLMServerSettings:
    """Settings of the connection. Those of memory and speed are the server's own, `--tensor-parallel-size` too."""

    address: str = ""
    """Address of the server, such as `http://localhost:8000`."""
    model: str = ""
    """Name of the base on the server (`--served-model-name`); empty takes the only one that it lists."""
    rows: int = 256
    """Maximum number of requests that are open at the server at once."""
    max_adapters: int = 8
    """Maximum number of adapters in one batch; requests under further adapters wait. The server needs one slot more
    (`--max-loras`): on a CPU the base is read under an adapter of zeros."""
    adapters_folder: str = ""
    """Folder in which versions of adapters are written, and from which the server reads them: it must have the same
    path there. Empty takes the system's folder for temporary files, which a server on this machine reads."""
    timeout: float = 600.0
    """Timeout of one request in seconds; it covers the wait for its turn on the server."""
    tries: int = 5
    """Maximum number of tries of a request that failed for a reason that passes."""

    def __post_init__(self) -> None:
        for option in ("rows", "max_adapters", "tries"):
            whole(ENGINE, option, getattr(self, option), 1)
        if not 0.0 < self.timeout < float("inf"):
            raise BadParameter(f"{ENGINE} needs a `timeout` above 0.")

    @property
    def url(self) -> str:
        """The address of its API, which ends in `/v1`; refused where there is none."""
        if not self.address:
            raise BadParameter(f"{ENGINE} needs `address`, such as vllm-server(address=http://localhost:8000).")
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise BadParameter(f"{self.address!r} is no address of a server: say http://HOST:PORT.")
        url = self.address.rstrip("/")
        url = url if url.endswith("/v1") else f"{url}/v1"
        check_encrypted(url)
        return url

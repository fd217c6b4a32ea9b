"""Hosts of servers: how they are written, and which may be used without encryption."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from stratagem.base.errors import BadParameter

_PORTS = {"http": 80, "https": 443}


class Host(NamedTuple):
    """Host by name or number, and perhaps one port of it."""

    name: str
    port: int | None = None

    def covers(self, other: Host) -> bool:
        """Return whether the other is this host, at this port where one is named."""
        return self.name == other.name and self.port in (None, other.port)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


def read_host(text: str) -> Host | None:
    """Return the host that `HOST` or `HOST:PORT` names; None where it names none."""
    try:
        parts = urlsplit(f"//{text.strip()}")
        port = parts.port
    except ValueError:
        return None
    plain = parts.netloc == text.strip() and "@" not in text and text.isprintable() and " " not in text.strip()
    return Host(parts.hostname, port) if parts.hostname and plain else None


def host_of(url: str) -> Host:
    """Return the host and the port of an address."""
    parts = urlsplit(url)
    try:
        return Host(parts.hostname or "", parts.port or _PORTS.get(parts.scheme))
    except ValueError as error:
        raise BadParameter(f"{url!r} is no address ({error}): say http://HOST:PORT/v1.") from None


def is_loopback(host: Host) -> bool:
    """Return whether a host is this machine, so that data sent there leaves it by no network."""
    if host.name == "localhost":
        return True
    try:
        return ip_address(host.name).is_loopback
    except ValueError:
        return False


def check_encrypted(url: str) -> None:
    """Refuse plain http beyond this machine: everybody on the way reads the prompts and the key."""
    if urlsplit(url).scheme == "http" and not is_loopback(host_of(url)):
        raise BadParameter(
            f"The server at {url} is reached by plain http, so everybody on the way can read what is sent: "
            "say https://, or forward a port of this machine to it and say http://localhost:PORT/v1."
        )

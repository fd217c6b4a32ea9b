"""Checks of a request by its headers: the name of this server, the origin, the secret, and the kind of the body.

A page that a browser has open elsewhere must not reach a server of this machine: neither by a request to its address,
nor by a name of its own that leads here (DNS rebinding), nor by a form, which cannot send JSON.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Mapping
from ipaddress import ip_address

from stratagem.base.hosts import Host, is_loopback, read_host

JSON_KIND = "application/json"
"""Content type of a body; no form of a page can send it to another origin by itself."""
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
"""Headers of every answer that a browser shows."""


def is_own_name(headers: Mapping[str, str], own: str = "") -> bool:
    """Return whether a request means this server: by a name of this machine, or by the host that it was opened at."""
    host = read_host(headers.get("host", ""))
    if host is None:
        return False
    name = host.name.casefold()
    if is_loopback(Host(name)) or name == own.casefold():
        return True
    if not _is_wildcard(own):
        return False
    return _is_number(name) or name in (socket.gethostname().casefold(), socket.getfqdn().casefold())


def is_same_origin(headers: Mapping[str, str]) -> bool:
    """Return whether no foreign page asks; a person may follow a link to the first page."""
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return False
    if headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
        return True
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"


def is_own_request(headers: Mapping[str, str]) -> bool:
    """Return whether a page of this origin sends data that no form of another page could send."""
    return "origin" in headers and headers.get("sec-fetch-site", "same-origin") == "same-origin" and is_json(headers)


def is_json(headers: Mapping[str, str]) -> bool:
    """Return whether the body of a request is declared as JSON."""
    return headers.get("content-type", "").partition(";")[0].strip().casefold() == JSON_KIND


def bearer_of(headers: Mapping[str, str]) -> str:
    """Return the secret that a request sends; empty where there is none."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    return secret if kind == "Bearer" else ""


def is_secret(given: str, secret: str) -> bool:
    """Return whether a secret was given, in a time that does not tell how much of it is right; none is no secret."""
    return bool(secret) and hmac.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _is_wildcard(host: str) -> bool:
    return _is_number(host) and ip_address(host).is_unspecified


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True

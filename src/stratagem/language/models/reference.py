"""A model by one string: `tiny`, `hf:ID`, `dir:PATH+adapter:PATH+dtype=bf16`; read here, loaded elsewhere."""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from stratagem.base.errors import StratagemError

BUILT_IN = ("tiny", "tiny-qwen", "tiny-gemma", "tiny-qwen3.5")
"""Tiny models, made on demand."""
NAMED = (*BUILT_IN, "small", "base", "base-10m", "base-25m", "smollm2")
"""Models that need no more than a name."""
KINDS = ("hf", "dir", "gguf", "run", "zoo", "api")
"""Kinds of the others, before the colon."""
FORMS = (
    *NAMED,
    "hf:ID",
    "hf:ID@REVISION",
    "dir:PATH",
    "gguf:PATH",
    "run:PATH",
    "run:PATH@LABEL",
    "zoo:NAME",
    "api:MODEL@URL",
)
OPTIONS = ("+adapter:PATH", "+adapter:NAME=PATH", "+4bit", "+dtype=bf16")
DTYPES = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
"""Short names of number formats, and torch's."""
AUTO = "auto"
"""Number format that the machine chooses when the model is loaded, or when a run with it is made."""
LABEL = re.compile(r"(base|start|best|last|[0-9]+)(/[A-Za-z0-9_-]+)?")
"""Label of a run's model: a stage or a step, with the seat where several seats were trained."""
_OPTION = re.compile(r"\+(?=adapter:|4bit(?:\+|$)|dtype=)")
_ZOO = re.compile(r"[a-z0-9-]+")
_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")
_PLAYER = re.compile(r"""lm\(('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,)]*)(.*)\)""", re.DOTALL)
"""Pattern of a player that is a model with options: the model, perhaps as a literal, and the options."""
_NAME, _PATH = 255, 4000
"""Bytes of a name, and characters of a path, that a file system takes."""
_NAMED = re.compile(r"([A-Za-z0-9_-]+)=(.+)", re.DOTALL)
_USER = re.compile(r"^((?:\s*api:[^@]*@)?+(?:\w*:(?=//))?+(?://)?+).*@", re.DOTALL | re.IGNORECASE)
"""Pattern of an address, perhaps after `api:MODEL@`, up to its last @; the group is what stands before the user."""
_VERSION = re.compile(r"api-version=[A-Za-z0-9.-]+")


class BadModel(StratagemError):
    """Text that names no model, or an unavailable model."""


@dataclass(frozen=True)
class AdapterRef:
    """Adapter to load: its name and its folder."""

    name: str
    path: str


@dataclass(frozen=True)
class ModelRef:
    """Parsed text of a model."""

    kind: str
    """Name from `NAMED`, or hf, dir, gguf, run, zoo, api."""
    where: str = ""
    """Id on the Hub, path, or the name of the model in the zoo or on the server."""
    revision: str | None = None
    """Revision on the Hub, or the label of one of a run's models."""
    url: str | None = None
    adapters: tuple[AdapterRef, ...] = ()
    four_bit: bool = False
    dtype: str | None = None
    """Short name from `DTYPES`, or `AUTO`; without one it is the usual format of the device."""

    @property
    def base(self) -> str:
        """Text of the model without options."""
        pinned = f"@{self.revision}" if self.revision else ""
        served = f"@{self.url}" if self.url else ""
        return f"{self.kind}:{self.where}{pinned}{served}" if self.where else self.kind

    @property
    def options(self) -> str:
        """Options of the weights, as the text behind the model's name."""
        return "+4bit" * self.four_bit + (f"+dtype={self.dtype}" if self.dtype else "")

    def __str__(self) -> str:
        adapters = "".join(f"+adapter:{adapter.name}={adapter.path}" for adapter in self.adapters)
        return self.base + adapters + self.options


def parse_model(text: str) -> ModelRef:
    """Parse the text of a model; a mistake is answered with the valid forms."""
    if "\0" in text:
        raise BadModel(f"{text[:100]!r} holds the character NUL, which no name has.")
    base, *options = _OPTION.split(text.strip())
    kind, colon, where = base.partition(":")
    if not colon and kind in NAMED:
        return ModelRef(kind, **_options(text, kind, options))
    if not colon or kind not in KINDS:
        raise BadModel(f"There is no model called {text!r}: {_forms()}.")
    if not where:
        raise BadModel(f"{text!r} does not say which model: {_forms()}.")
    read = {"hf": _hub, "api": _split_server, "run": _of_run, "zoo": _of_zoo}.get(kind, _local)
    return ModelRef(kind, **read(text, where), **_options(text, kind, options))


def _forms() -> str:
    return f"say one of {', '.join(FORMS)}, and then options such as {', '.join(OPTIONS)}"


def _local(text: str, where: str) -> dict[str, Any]:
    return {"where": check_path(where)}


def check_path(path: str) -> str:
    """Check that the parts of a path are no longer than the name of a file can be."""
    if any(len(part.encode(errors="replace")) > _NAME for part in path.split("/")) or len(path) > _PATH:
        raise BadModel(f"The path {path[:60]!r}… is longer than a path can be: a name in it has at most {_NAME} bytes.")
    return path


def _hub(text: str, where: str) -> dict[str, Any]:
    if not _HUB_ID.fullmatch(where):
        raise BadModel(f"{text!r} is no model of the Hub: say hf:ID or hf:ID@REVISION, such as hf:owner/model.")
    name, _, revision = where.partition("@")
    return {"where": name, "revision": revision or None}


def _of_run(text: str, where: str) -> dict[str, Any]:
    """Split a run's folder and the label; a folder may have an @ in its name."""
    path, at, label = check_path(where).rpartition("@")
    if not at or not LABEL.fullmatch(label):
        return {"where": where}
    if not path:
        raise BadModel(f"{text!r} does not say which run: say run:PATH@{label} with the folder of one.")
    return {"where": path, "revision": label}


def _of_zoo(text: str, where: str) -> dict[str, Any]:
    name, _, label = where.partition("@")
    if not _ZOO.fullmatch(name) or (label and not LABEL.fullmatch(label)):
        raise BadModel(f"{text!r} is no model of the zoo: say zoo:NAME or zoo:NAME@start, such as zoo:kuhn-sepo.")
    return {"where": name, "revision": label or None}


def _split_server(text: str, where: str) -> dict[str, Any]:
    """Split a model and its server; a key in the address is refused, since addresses are recorded."""
    name, at, url = where.rpartition("@http")
    parts = _address("http" + url)
    if not at or not name or parts is None:
        raise BadModel(
            f"{hide_secrets(text)!r} names no server: say api:MODEL@URL, such as api:NAME@http://localhost:8000/v1."
        )
    question = parts.query and not _VERSION.fullmatch(parts.query)
    if parts.username or parts.password or question or parts.fragment:
        raise BadModel(
            "An address takes no user, key, fragment or question but ?api-version=VERSION: say api:MODEL@URL, and "
            "STRATAGEM_API_KEY=KEY@HOST in the environment."
        )
    return {"where": name, "url": "http" + url}


def _address(url: str) -> SplitResult | None:
    """Return the parts of an address of a server; None where a part is malformed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = url.isprintable() and " " not in url and "\\" not in url
    sound = plain and parts.scheme in ("http", "https") and parts.hostname and port != 0
    return parts if sound else None


def is_address(url: str) -> bool:
    """Return whether a text is an address of a server without a user, a key or a question, which would be recorded."""
    parts = _address(url)
    return parts is not None and not (parts.username or parts.password or parts.query or parts.fragment)


def hide_secrets(text: str) -> str:
    """Hide the user, the question and the fragment of an address, or of `api:MODEL@URL`: each may hold a key."""
    return re.sub(r"[?#].*", "?…", _USER.sub(r"\1…@", text), flags=re.DOTALL)


def _options(text: str, kind: str, options: list[str]) -> dict[str, Any]:
    if options and kind == "api":
        raise BadModel("A model behind a server takes no options: say api:MODEL@URL alone.")
    adapters = tuple(_adapter(option.removeprefix("adapter:")) for option in options if option.startswith("adapter:"))
    if adapters and kind in ("run", "zoo"):
        raise BadModel(
            f"A {kind}'s models have their adapters already: leave +adapter out, or name a dir: or hf: model."
        )
    names = [adapter.name for adapter in adapters]
    dtypes = [option.removeprefix("dtype=") for option in options if option.startswith("dtype=")]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadModel(f"Two adapters of {text!r} are called {twice[0]}: name them, as in +adapter:NAME=PATH.")
    if len(dtypes) > 1 or options.count("4bit") > 1:
        raise BadModel(f"{text!r} says an option twice: +4bit and +dtype may each stand once.")
    if dtypes and dtypes[0] not in (*DTYPES, AUTO):
        raise BadModel(f"There is no dtype {dtypes[0]!r}: say one of {', '.join((*DTYPES, AUTO))}.")
    if "4bit" in options and kind == "gguf":
        raise BadModel("A gguf: model is quantised already: leave +4bit out, or name a dir: or hf: model.")
    return {"adapters": adapters, "four_bit": "4bit" in options, "dtype": dtypes[0] if dtypes else None}


def _adapter(text: str) -> AdapterRef:
    """Read a path, with its last part as the name unless a name stands before it."""
    named = _NAMED.fullmatch(text)
    return AdapterRef(named[1], check_path(named[2])) if named else adapter_at(check_path(text))


def placeless(name: str) -> str:
    """Remove the folders from the name of a player, so that draws keyed by it do not depend on a model's path."""
    match = _PLAYER.fullmatch(name)
    text, options = (match[1], match[2]) if match else (name, "")
    try:
        ref = parse_model(literal_eval(text) if text[:1] in ("'", '"') else text)
    except (StratagemError, ValueError, SyntaxError):
        return name
    if ref.kind not in ("run", "dir", "gguf") and not ref.adapters:
        return name
    base = replace(ref, where="" if ref.kind in ("run", "dir", "gguf") else ref.where, adapters=()).base
    label = f"@{ref.revision}" if ref.kind == "run" else ""
    return f"{base}{label}{'+adapter' * len(ref.adapters)}{ref.options}{options}"


def adapter_at(path: str) -> AdapterRef:
    """Name the adapter in a folder by the last part of its path."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", Path(path).name).strip("_")
    if not name:
        raise BadModel("An adapter needs a folder: say +adapter:PATH or +adapter:NAME=PATH.")
    return AdapterRef(name, path)

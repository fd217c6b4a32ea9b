"""Template files that a user names, as in `template:my_prompt.txt`: where they are, and their text.

A template is read and never run. It has to be a text file with the suffix .txt and a line such as [user], so that no
other file is sent to a model by mistake. A path counts from the working directory and from the folders of recipes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from stratagem.base.consent.table import check_read
from stratagem.base.errors import BadParameter
from stratagem.base.named_files import table

PREFIX, SUFFIX = "template:", ".txt"
_LARGEST = 1 << 16
"""Size in bytes beyond which a template is not read."""
_NAMED = re.compile(rf"{PREFIX}([^()\[\]{{}}=,;'\"\n]*{re.escape(SUFFIX)})")


def templates_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield the template files that texts name, each once."""
    yield from dict.fromkeys(found[1].strip() for text in texts for found in _NAMED.finditer(text))


def find_template(file: str) -> Path:
    """Return the path of a template file."""
    if not file.endswith(SUFFIX):
        raise BadParameter(f"A template is a text file whose name ends in {SUFFIX}, as in {PREFIX}my_prompt{SUFFIX}.")
    if (known := table().paths.get(file)) is not None:
        return known
    places = list(dict.fromkeys(folder.resolve() / file for folder in (Path.cwd(), *table().folders)))
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise BadParameter(f"There is no template {file!r}: tried {' and '.join(map(str, places))}.")
    check_read(path)
    return path


def read_template(file: str) -> str:
    """Return the text of a template file."""
    path = find_template(file)
    try:
        if path.stat().st_size > _LARGEST:
            raise BadParameter(f"The template {file} is larger than {_LARGEST:,} bytes.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"The template {file} cannot be read as text in UTF-8.") from error

"""A report as a test reads it: its sections, its tables, and the data of its pictures."""

import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """Parser of the content of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.sections, self.tables, self.data, self.policy = [], [], [], [], ""
        self.texts = {}
        self._inside, self._row, self._kind = "", None, ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        self._kind = given.get("type", "code") if tag in ("script", "style") else ""
        if tag == "section":
            self.sections.append(given["id"])
            self._inside = given["id"]
        elif tag == "table":
            self.tables.append((self._inside, []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self._row = self.tables[-1][1][-1]
            self._row.append("")
        elif tag == "small":
            self._row = None
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]

    def handle_endtag(self, tag):
        self._kind = ""
        if tag in ("td", "th"):
            self._row = None
        if tag == "section":
            self._inside = ""

    def handle_data(self, text):
        if self._kind == "application/json":
            self.data.append((self._inside, json.loads(text)))
        elif self._kind == "":
            self.texts[self._inside] = self.texts.get(self._inside, "") + text
            if self._row is not None:
                self._row[-1] += text

    def tables_of(self, section):
        """The rows of every table in a section, intervals left out."""
        return [rows for inside, rows in self.tables if inside == section]

    def traces_of(self, section):
        """The traces of every picture in a section."""
        return [trace for inside, data in self.data if inside == section for trace in data["traces"]]

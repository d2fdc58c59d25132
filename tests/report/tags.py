"""A page as a list of tags and its text, and strangers' words to put into it."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "' onload='alert(1)",
    '" onload="alert(1)',
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
    "{% include 'page.css' %}",
    "\x1b[31m\x00\u202e",
    "<!--",
    "&lt;b&gt;",
    "<b",
    "\ud800 half a pair",
)


class Tags(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

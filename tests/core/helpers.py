"""Tools to read a page in tests."""

import html
import re
from io import StringIO
from typing import Any

from django.core.management import CommandError, call_command


def words(answer: Any) -> str:
    """The page's text without its tags."""
    return _without_tags(answer.content.decode())


def words_at(answer: Any, mark: str) -> str:
    """The text of the element with this attribute, like `id="short"` or `data-code="placed"`; "" without one."""
    match = re.search(rf"<(\w+)[^>]*\s{re.escape(mark)}[^>]*>(.*?)</\1>", answer.content.decode(), re.DOTALL)
    return _without_tags(match[2]) if match else ""


def counts_at(answer: Any, mark: str) -> list[int]:
    """The whole numbers in the text of the element with this attribute."""
    return [int(number) for number in re.findall(r"\d+", words_at(answer, mark))]


def amounts_at(answer: Any, mark: str) -> list[str]:
    """The amounts of money in the text of the element with this attribute, as "Rp10.500"."""
    return re.findall(r"Rp[\d.]*\d", words_at(answer, mark))


def _without_tags(page: str) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def cells(answer: Any, column: str) -> list[str]:
    """The text of this column's cells, row by row."""
    texts = re.findall(rf'<td class="c-{column} .*?>(.*?)</td>', answer.content.decode(), re.DOTALL)
    return [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", cell))).strip() for cell in texts]


def has_id(answer: Any, name: str) -> bool:
    """Whether an element of the page has this id."""
    return f'id="{name}"' in answer.content.decode()


def codes(answer: Any) -> set[str]:
    """The codes of the page's messages: each refusal and each advice has one in `data-code`."""
    return set(re.findall(r'data-code="([^"]+)"', answer.content.decode()))


def next_question(answer: Any) -> tuple[str, int] | None:
    """The next request of a live page, and its delay in seconds; None when it asks nothing more."""
    page = answer.content.decode()
    match = re.search(r'id="live" hidden hx-get="([^"]+)" hx-trigger="load delay:(\d+)s, again"', page)
    return (html.unescape(match[1]), int(match[2])) if match else None


def hidden(answer: Any) -> dict[str, str]:
    """The hidden fields of the page's forms, except the CSRF token, the way back and those of "find anything"."""
    page = re.sub(r'<form class="find-form".*?</form>', "", answer.content.decode(), flags=re.DOTALL)
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in fields if name not in {"csrfmiddlewaretoken", "next"}}


def run(*args: str) -> tuple[int, str]:
    """Exit code and standard output of a command; for a refused command its sentence."""
    out = StringIO()
    try:
        call_command(*args, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()

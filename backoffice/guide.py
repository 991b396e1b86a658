"""The guides: docs/guide-READER.LANGUAGE.md as pages of the app, to be read and printed."""

import re
from functools import cache
from pathlib import Path

import markdown
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only

_PICTURE = re.compile(r'src="pictures/([\w./-]+)"')
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\([^)]+\)")  # to other pages of docs/, which are not pages of ours


@staff_only()
@require_GET
def guide(request: StaffRequest, reader: str) -> HttpResponse:
    """The guide for cashiers or owners in the person's language, or else in English."""
    title, text = _guide(reader, get_language() or "en")
    return render(request, "backoffice/guide.html", {"title": title, "text": text})


@cache
def _guide(reader: str, language: str) -> tuple[str, SafeString]:
    """Title and body, as HTML."""
    folder: Path = settings.BASE_DIR / "docs"
    path = folder / f"guide-{reader}.{language}.md"
    written = (path if path.exists() else folder / f"guide-{reader}.en.md").read_text()
    title, _line, body = written.partition("\n")
    text = markdown.markdown(_LINK.sub(r"\1", body), extensions=["tables"])
    text = _PICTURE.sub(lambda match: f'src="{static(f"pictures/{match[1]}")}"', text)
    text = text.replace("<table>", '<table class="guide-table">')
    return title.lstrip("# "), mark_safe(text)  # noqa: S308 - a file of our own

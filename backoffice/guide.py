"""The guide for cashiers: docs/guide-cashier.LANGUAGE.md as a page of ours, to be read and printed."""

from __future__ import annotations

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


@staff_only()
@require_GET
def guide(request: StaffRequest) -> HttpResponse:
    """The guide in the person's language, or else in English."""
    title, text = _guide(get_language() or "en")
    return render(request, "backoffice/guide.html", {"title": title, "text": text})


@cache
def _guide(language: str) -> tuple[str, SafeString]:
    """Title and body, as HTML."""
    folder: Path = settings.BASE_DIR / "docs"
    path = folder / f"guide-cashier.{language}.md"
    written = (path if path.exists() else folder / "guide-cashier.en.md").read_text()
    title, _line, body = written.partition("\n")
    text = markdown.markdown(body, extensions=["tables"])
    text = _PICTURE.sub(lambda match: f'src="{static(f"pictures/{match[1]}")}"', text)
    text = text.replace("<table>", '<table class="guide-table">')
    return title.lstrip("# "), mark_safe(text)  # noqa: S308 - a file of our own

"""Answers without their pages."""

import pytest
from django.template.backends.django import Template


@pytest.fixture
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are answered with what they ask and do, and are not drawn: for tests that only look at who is let in."""
    monkeypatch.setattr(Template, "render", lambda *_context, **__context: "")

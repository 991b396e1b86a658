"""Answers without drawn pages."""

import pytest
from django.template.backends.django import Template


@pytest.fixture
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let views work without drawing their pages, for tests that only check who has access."""
    monkeypatch.setattr(Template, "render", lambda *_context, **__context: "")

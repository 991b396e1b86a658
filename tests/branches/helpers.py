"""A shop with a second branch, for tests."""

from typing import Any

from branches.models import Branch
from branches.services import forget


def make_branch(name: str = "Tebet", **texts: Any) -> Branch:
    """A second open branch; every page uses the word from now on."""
    branch = Branch.objects.create(name=name, **texts)
    forget()
    return branch

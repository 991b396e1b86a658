"""A query that waits for a row's lock may read joined rows too early.

When the lock is free, PostgreSQL reads the locked row again, but joins it with rows that it read before: a row that
was set or replaced meanwhile is missing. So a sale once lost its debt, and a batch the person who released it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings

# The functions that lock and join, with the reason why no row can be missing.
SAFE = {
    "alerts/services/notifying.py _claim": "it waits for no lock",
    "approvals/services/deciding.py _locked": "who asked never changes",
    "batches/services/releasing.py lock_batch": "it locks first, and reads then",
    "bills/services/paying.py lock_check_for_payment": "it locks first, and reads then",
    "credit/services/accounts.py lock_account": "an account has a customer as long as it is there",
    "drawers/services/locking.py lock_shift": "a shift's drawer and cashier never change",
    "drawers/services/managing.py set_usual_drawer": "the join is a query of its own",
    "drawers/services/payments.py lock_payment": "it locks first, and reads then",
    "dues/services.py _ask": "it waits for no lock",
    "purchases/services/acts.py _locked": "a product always has a brand and a category",
}


def locking_and_joining() -> Iterator[str]:
    """The functions of the app that lock and join, each as its file and name."""
    rooms = [Path(app.path) for app in apps.get_app_configs() if Path(app.path).parent == settings.BASE_DIR]
    for room in rooms:
        for path in room.rglob("*.py"):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "select_for_update" in text else ():
                if isinstance(node, ast.FunctionDef) and _calls(node) >= {"select_for_update", "select_related"}:
                    yield f"{path.relative_to(settings.BASE_DIR)} {node.name}"


def _calls(function: ast.FunctionDef) -> set[str]:
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    return {call.attr for call in calls if isinstance(call, ast.Attribute)}


def test_a_lock_is_joined_with_nothing_that_may_have_changed_meanwhile():
    assert set(locking_and_joining()) == set(SAFE)

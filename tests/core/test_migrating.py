"""Migrations follow the fields of the database, and not their words."""

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection, models
from django.db.migrations.state import ModelState, ProjectState

from core.schema import WordlessAutodetector, can_make_tables, has_run_all


def state(**facts):
    found = ProjectState()
    found.add_model(ModelState("core", "Thing", [("name", models.CharField(**{"max_length": 10, **facts}))]))
    return found


@pytest.mark.parametrize(
    ("facts", "is_new"),
    [
        ({"help_text": "Other words.", "verbose_name": "other", "choices": [("a", "A")]}, False),
        ({"max_length": 11}, True),
        ({"null": True}, True),
    ],
)
def test_given_other_words_then_no_migration(facts, is_new):
    before = state(help_text="Some words.", choices=[("a", "A"), ("b", "B")])

    changes = WordlessAutodetector(before, state(**facts))._detect_changes()

    assert bool(changes) is is_new


@pytest.mark.django_db
def test_tables_are_made_at_once_in_an_empty_database_alone():
    assert not can_make_tables()


@pytest.mark.django_db
def test_the_database_of_the_tests_was_made_at_once():
    # given: pytest-django, which calls `migrate --run-syncdb`; each migration that runs alone writes its own row
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT xmin::text) FROM django_migrations")
        migrations, transactions = cursor.fetchone()

    assert transactions < migrations / 2


@pytest.mark.django_db
def test_where_every_migration_has_run_a_call_makes_the_rights_that_one_before_has_not_made():
    assert has_run_all()
    Permission.objects.filter(codename="view_cost").delete()

    call_command("migrate", interactive=False, verbosity=0)

    assert Permission.objects.filter(codename="view_cost", content_type__app_label="catalogue").exists()

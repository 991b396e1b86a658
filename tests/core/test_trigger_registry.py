"""Our list of pgtrigger's triggers answers as pgtrigger's own list does."""

import pgtrigger
import pytest
from pgtrigger import registry

from ledger.models import Entry

_registry, THEIRS = registry._registry, registry._Registry


def test_it_knows_every_trigger_as_pgtrigger_would_by_walking_through_all():
    assert len(_registry) > 300
    assert _registry.by_db_table == THEIRS.by_db_table.fget(_registry)
    assert _registry.pg_function_names == THEIRS.pg_function_names.fget(_registry)
    assert {trigger for _model, trigger in pgtrigger.registered()} == set(_registry.by_db_table.values())


def test_a_second_trigger_of_a_name_is_refused_and_one_that_goes_is_forgotten():
    before = dict(_registry.by_db_table)
    same_name = pgtrigger.Trigger(
        name="never_truncated", when=pgtrigger.Before, operation=pgtrigger.Insert, func="RETURN NEW;"
    )
    with pytest.raises(KeyError, match="already used"):
        same_name.register(Entry)

    another = pgtrigger.Protect(name="only_of_this_test", operation=pgtrigger.Delete)
    another.register(Entry)
    assert len(_registry.by_db_table) == len(before) + 1
    another.unregister(Entry)
    assert _registry.by_db_table == before

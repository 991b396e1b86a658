"""The owner of each second factor and provider's account has a history, also for raw SQL, without any secret."""

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.db import connection

from staff.models import FactorHistory, OutsideAccountHistory
from testing.people import give_factor, make_person

pytestmark = pytest.mark.django_db


def labels(history) -> list[str]:
    return list(history.objects.order_by("pgh_id").values_list("pgh_label", flat=True))


def test_a_factor_that_comes_and_goes_is_copied_without_its_secret():
    person = make_person("cashier")
    give_factor(person)
    Authenticator.objects.update(data={"secret": "other"})  # a used factor is no change
    Authenticator.objects.filter(user=person).delete()
    assert labels(FactorHistory) == ["insert", "delete"]
    assert set(FactorHistory.objects.values_list("user_id", "type")) == {(person.pk, "totp")}
    assert "data" not in {field.name for field in FactorHistory._meta.fields}


def test_an_account_that_raw_sql_links_leaves_a_copy():
    cashier, viewer = make_person("cashier"), make_person("viewer")
    SocialAccount.objects.create(user=cashier, provider="https://id.example", uid="s-1")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE socialaccount_socialaccount SET user_id = %s", [viewer.pk])
    assert labels(OutsideAccountHistory) == ["insert", "update"]
    assert OutsideAccountHistory.objects.latest("pgh_id").user_id == viewer.pk

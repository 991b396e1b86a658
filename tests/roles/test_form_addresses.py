"""The address of a form, opened as a page."""

import pytest

from testing.people import browser_of
from tests.roles.helpers import addresses

pytestmark = pytest.mark.django_db


def test_each_form_only_address_leads_to_a_page_above_it():
    owner, opens = browser_of("admin"), {"Accept": "text/html,application/xhtml+xml"}
    form_only = [address for _name, address in addresses() if owner.get(address).status_code == 405]
    assert len(form_only) > 30

    owner = browser_of("admin", username="second")
    for address in form_only:
        first = owner.get(address, headers=opens)
        assert (first.status_code, address.startswith(first["Location"])) == (302, True), address
        assert owner.get(address, headers=opens, follow=True).status_code != 405, address

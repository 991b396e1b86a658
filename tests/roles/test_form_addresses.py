"""The address of a form, opened as a page."""

import pytest

from testing.people import browser_of
from tests.roles.helpers import addresses, tables

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("_undrawn")
def test_each_form_only_address_leads_to_a_page_above_it():
    documented = tables()["address"]  # test_table.py compares it with the served addresses
    form_only = [address for name, address in addresses() if f"{name} GET" not in documented]
    assert len(form_only) > 30

    owner, opens = browser_of("admin"), {"Accept": "text/html,application/xhtml+xml"}
    for address in form_only:
        page = owner.get(address, headers=opens, follow=True)
        above, status = page.redirect_chain[0]
        assert (status, address.startswith(above)) == (302, True), address
        assert page.status_code != 405, address

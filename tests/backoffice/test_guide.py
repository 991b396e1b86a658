"""The guide for cashiers: the same steps and pictures in both languages, as a page of the app."""

import re

import pytest
from django.contrib.staticfiles import finders

from backoffice.guide import _guide
from testing.people import browser_of


@pytest.mark.parametrize("language", ["id", "en"])
@pytest.mark.django_db
def test_it_is_a_page_in_ones_language_with_its_pictures(language):
    page = browser_of("cashier", language=language).get("/guide/").content.decode()

    pictures = re.findall(r'src="/static/(pictures/[^"]+)"', page)
    assert len(pictures) == 5
    assert all(f"/{language}/" in picture and finders.find(picture) for picture in pictures)
    assert page.count('<table class="guide-table">') == 2


def test_both_languages_have_the_same_steps():
    steps = [
        re.sub(r"[^<>/a-z0-9]", "", "".join(re.findall(r"</?\w+", _guide(language)[1]))) for language in ("id", "en")
    ]

    assert steps[0] == steps[1]

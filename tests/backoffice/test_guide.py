"""The guides: the same steps in both languages, in the words of the pages, and as pages of the app."""

import re

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders

from testing.people import browser_of

DOCS = settings.BASE_DIR / "docs"


@pytest.mark.django_db
def test_it_is_a_page_in_ones_language_with_its_pictures():
    for language in ("id", "en"):
        browser = browser_of("cashier", username=language, language=language)
        for address, pictures, tables in (("/guide/", 5, 2), ("/guide/owner/", 4, 1)):
            page = browser.get(address).content.decode()

            shown = re.findall(r'src="/static/(pictures/[^"]+)"', page)
            assert len(shown) == pictures, address
            assert all(f"/{language}/" in picture and finders.find(picture) for picture in shown), address
            assert page.count('<table class="guide-table">') == tables, address
            assert ".md" not in page


@pytest.mark.parametrize("reader", ["cashier", "owner"])
def test_both_languages_have_the_same_steps(reader):
    steps = [re.findall(r"(?m)^(?:#+|- |\d\.|\||!\[)", text) for text in (written(reader, "id"), written(reader, "en"))]

    assert steps[0] == steps[1]


@pytest.mark.parametrize("language", ["id", "en"])
@pytest.mark.parametrize("reader", ["cashier", "owner"])
def test_bold_words_are_those_of_the_pages(reader, language):
    """Except whole sentences, which end with a full stop."""
    bold = {" ".join(words.split()) for words in re.findall(r"\*\*([^*]+)\*\*", written(reader, language))}
    column = "msgstr" if language == "id" else "msgid"
    on_pages = set(re.findall(rf'(?m)^{column} "(.+)"$', (DOCS.parent / "locale/id/LC_MESSAGES/django.po").read_text()))

    assert {words for words in bold if not words.endswith(".")} - on_pages == set()


def written(reader, language):
    return (DOCS / f"guide-{reader}.{language}.md").read_text()

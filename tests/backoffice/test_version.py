"""The version stands in pyproject.toml; the pages and the changelog say the same."""

import re
import tomllib

import pytest
from django.test import Client

from launcher import ROOT
from staff.models import User
from tests.launcher.helpers import run

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_changelog_begins_with_it():
    assert re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == VERSION


@pytest.mark.django_db
def test_each_page_ends_with_it(client: Client):
    client.force_login(User.objects.create_user("auditor"))

    assert f"Merchant backoffice {VERSION}</footer>" in client.get("/").content.decode()


def test_run_prints_it(tmp_path):
    assert run("--version", data=tmp_path).stdout.strip() == VERSION

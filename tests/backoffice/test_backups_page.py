"""The page "Backups": after a restore a person opens the shop, once every open order was polled."""

import datetime as dt
import json
import os
import threading
import time
from html import unescape

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from catalogue.models import CatalogueSync
from core import kept_backups
from core.slow_disk import SlowDisk
from gateway.models import UpstreamAccount
from gateway.services import hold_restored, upstream_account
from purchases.models import Lack, LostOrder
from purchases.states import Status
from testing.factories import make_order, make_product
from testing.people import browser_of, give_factor, make_person, signed_in
from tests.core.helpers import has_id
from tests.gateway.helpers import read_balance

pytestmark = pytest.mark.django_db

_SENT = "2026-11-26T07:05:09+00:00"


def test_the_shop_opens_once_every_open_order_was_asked_about():
    order = make_order(Status.UNKNOWN)
    hold_restored(to=timezone.now() - dt.timedelta(minutes=1))
    UpstreamAccount.objects.update(restored_at=timezone.now())  # not the beginning of the test's transaction
    browser = browser_of("administrator")
    page = browser.get(reverse("backups")).content.decode()
    assert order.ref_id in page
    assert "is still being asked about 1 open order" in page.partition('id="waits-for"')[2]
    assert "is not known yet" in page.partition('id="restored-differences"')[2].partition("</p>")[0]

    browser.post(reverse("open_shop"))

    assert upstream_account().is_held


def test_who_opens_the_shop_says_how_many_orders_are_not_taken_in():
    # given: everything is known, but two orders of the journal wait
    hold_restored(to=timezone.now() - dt.timedelta(minutes=2))
    UpstreamAccount.objects.update(restored_at=timezone.now() - dt.timedelta(minutes=1))
    read_balance(1_000_000)
    for ref_id, price in (("B-1", 9_000), ("B-2", 10_500)):
        line = {"product_name": "Telkomsel", "max_price": price, "payment": {"amount": 12_000}, "time": _SENT}
        LostOrder.objects.create(ref_id=ref_id, line=line, sent_no=1, found_at=timezone.now(), lacks=["product"])
    browser = browser_of("administrator")
    page = unescape(browser.get(reverse("backups")).content.decode())
    assert "the next catalogue may bring" in page
    CatalogueSync.objects.create(started_at=timezone.now(), result=CatalogueSync.Result.DONE)
    LostOrder.objects.filter(ref_id="B-1").update(lacks=[])
    assert "are being taken in" in unescape(browser.get(reverse("backups")).content.decode())
    LostOrder.objects.filter(ref_id="B-1").update(lacks=["twin"])
    page = unescape(browser.get(reverse("backups")).content.decode())
    assert "2 orders of the journal, Rp19.500 at most" in page

    # when: the person does not say it, or the number has changed meanwhile
    for said in ({}, {"without": "1"}):
        answer = browser.confirm(reverse("open_shop"), said, follow=True)
        assert upstream_account().is_held
        assert [message.extra_tags for message in answer.context["messages"]] == ["NotTakenIn"]

    browser.confirm(reverse("open_shop"), {"without": "2"})
    assert not upstream_account().is_held


def test_a_folder_that_does_not_answer_holds_no_page(settings, tmp_path, monkeypatch):
    # given: reading from this folder waits, as on a network disk that is away
    monkeypatch.setattr(kept_backups, "_disk", SlowDisk(0.2))
    settings.DATA_DIR, settings.BACKUP_TO = tmp_path, str(tmp_path / "backups")
    manifest = tmp_path / "backups/20261126-190000Z/manifest.json"
    manifest.parent.mkdir(parents=True)
    os.mkfifo(manifest)
    browser = browser_of("administrator")
    answers_at = threading.Timer(10, lambda: manifest.open("w").close())
    answers_at.start()
    begun = time.monotonic()

    monkeypatch.setattr("backoffice.backup_findings.is_backed_up_here", lambda: True)

    pages = [browser.get(reverse(name)) for name in ("backups", "health", "backups")]

    waited = time.monotonic() - begun
    answers_at.cancel()
    manifest.open("w").close()
    assert [page.status_code for page in pages] == [200] * 3
    assert waited < 8
    assert [has_id(page, "folder-is-silent") for page in pages] == [True, False, True]
    (row,) = [row["finding"] for row in pages[1].context["rows"] if row["finding"].subject == "backups"]
    assert (row.verdict, "does not answer" in row.seen) == ("bad", True)


def test_it_says_what_the_bucket_has(settings, tmp_path):
    settings.DATA_DIR, settings.BACKUP_TO, settings.BACKUP_BUCKET = tmp_path, str(tmp_path), "s3://shop/backups"
    browser = browser_of("administrator")

    def page_with(**noted: object) -> str:
        (tmp_path / "bucket-copied.json").write_text(json.dumps(noted))
        return unescape(browser.get(reverse("backups")).content.decode())

    for minutes, fault, said in (
        (1, "", "has all of it until"),
        (5, "It is away.", "It is away."),
        (None, "", "no backup to begin with"),
    ):
        until = minutes and (timezone.now() - dt.timedelta(minutes=minutes)).isoformat()
        page = page_with(until=until, backup="20261126-190000Z" if until else "", fault=fault)
        assert "s3://shop/backups" in page
        assert said in page
        assert "Nobody has restored from the bucket yet" in page

    # it lacks the newest backup
    begun, now = (timezone.now() - dt.timedelta(hours=7)).strftime("%Y%m%d-%H%M%SZ"), timezone.now().isoformat()
    page = page_with(until=now, backup="20261101-190000Z", newest=begun, fault="No room.")
    assert "No room." in page.partition('id="bucket-lacks-backup"')[2].partition("</p>")[0]

    # it has lost files, and a drill has proved it
    compared = {"at": now, "lost": 2, "names": ["20261126-190000Z.json", "20261126-190000Z.tar.gz.age"]}
    (tmp_path / "bucket-drill.json").write_text(json.dumps({"at": now, "orders": 1_234, "seconds": 61.5, "fault": ""}))
    page = page_with(until=now, backup="20261126-190000Z", fault="", compared=compared)
    assert "2 files in the bucket were not there" in page
    assert "20261126-190000Z.tar.gz.age" in page
    assert "brought back 1234 orders" in " ".join(page.partition('id="bucket-drill"')[2].split())


def test_a_backup_by_hand_is_listed_with_its_folder(settings, tmp_path):
    settings.BACKUP_TO, settings.DATA_DIR = "", tmp_path
    manifest = {
        "ended_at": timezone.now().isoformat(),
        "size": 70_000_000,
        "folder": "/mnt/stick/20260101-000000Z",
        "orders": 1_234,
        "secrets": False,
    }
    (tmp_path / "last-backup.json").write_text(json.dumps(manifest))

    page = browser_of("administrator").get(reverse("backups")).content.decode()

    assert "/mnt/stick/20260101-000000Z" in page
    assert page.count("70 MB") == 1


def test_the_page_says_how_much_would_be_lost_now(settings, tmp_path, monkeypatch):
    settings.BACKUP_TO, settings.DATA_DIR = str(tmp_path), tmp_path
    now, browser = timezone.now(), browser_of("administrator")
    monkeypatch.setattr("core.kept_backups.timezone.now", lambda: now)
    fault = {"at": now.isoformat(), "fault": "No space left on device"}
    (tmp_path / "backup-fault.json").write_text(json.dumps(fault))
    for behind, words in ((None, "now"), (4, "the last 4 s would be lost"), (90, "are not copied")):
        if behind:
            until = now - dt.timedelta(seconds=behind)
            (tmp_path / "log-copied.json").write_text(json.dumps({"until": until.isoformat()}))

        page = browser.get(reverse("backups")).content.decode()

        state = " ".join(page.partition('id="backup-state"')[2].partition("</p>")[0].split())
        assert words in state
        assert "No space left on device" in page.partition('id="backup-fault"')[2].partition("</p>")[0]


def test_a_first_backup_a_missing_log_and_damage_are_named(settings, tmp_path):
    settings.BACKUP_TO, settings.DATA_DIR = str(tmp_path), tmp_path
    browser, log = browser_of("administrator"), tmp_path / "wal" / timezone.now().strftime("%Y%m%d-%H%M%SZ")
    log.mkdir(parents=True)

    page = browser.get(reverse("backups")).content.decode()

    assert "has been under way since" in page.partition('id="backup-state"')[2].partition("</p>")[0]
    assert 'id="restored"' not in page, "without a restore there is nothing to open"
    assert not upstream_account().is_held

    log.rmdir()
    log.parent.rmdir()
    manifest = {"ended_at": "2026-11-25T19:00:09+00:00", "size": 70_000_000, "orders": 1, "secrets": True}
    for name, text in (("20261125-190000Z", json.dumps(manifest)), ("20261126-190000Z", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(text)

    page = browser.get(reverse("backups")).content.decode()

    assert "(wal/) is missing" in page.partition('id="backup-state"')[2].partition("</p>")[0]
    assert "20261126-190000Z" in page.partition('id="unreadable"')[2].partition("</p>")[0]


def test_what_was_taken_in_is_listed_with_its_sums():
    product = make_product(price=10_500)
    outcomes = [
        (make_order(Status.SUCCESS, product=product, price=10_400, destination="0811"), []),
        (make_order(Status.SUCCESS, product=product, price=10_500, destination="0812"), ["shift"]),
        (make_order(Status.FAILED, product=product, price=10_500, destination="0813"), []),
        (make_order(Status.UNKNOWN, product=product, destination="0814"), []),
        (None, ["twin"]),
    ]
    found_at = timezone.now()
    for number, (order, lacks) in enumerate(outcomes):
        line = {"product_name": "Telkomsel", "seller_name": "sari", "max_price": 9_000, "payment": {"amount": 12_000}}
        line |= {"time": _SENT, "destination": f"08120000000{number}"}
        ref_id = order.ref_id if order else f"B-{number}"
        facts = {"ref_id": ref_id, "order": order, "line": line, "lacks": lacks, "sent_no": 1}
        LostOrder.objects.create(found_at=found_at, **facts)

    page = browser_of("administrator").get(reverse("backups"))

    sums = {group.code: (group.count, group.cost) for group in page.context["lost_groups"]}
    assert sums == {"charged": (2, 20_900), "asked": (1, 10_500), "not_charged": (1, 10_500), "waits": (1, 9_000)}
    content = page.content.decode()
    assert content.count("data-lost=") == 5
    assert str(Lack.SHIFT.label) in unescape(content)
    row = content.partition('data-lost="B-4"')[2].partition("</tr>")[0]
    assert all(words in row for words in ("081200000004", "at most Rp9.000", "14:05"))
    assert [row.cost for row in page.context["lost"] if row.outcome == "charged"] == [10_500, 10_400]


def test_a_person_without_these_rights_sees_no_cost_and_no_number():
    line = {"product_name": "Telkomsel", "max_price": 9_000, "payment": {"amount": 12_000}}
    line |= {"time": _SENT, "destination": "081200000004", "seller_name": ""}
    LostOrder.objects.create(ref_id="B-4", line=line, sent_no=1, found_at=timezone.now(), lacks=["twin"])

    person = make_person()
    person.user_permissions.add(Permission.objects.get(codename="change_policies"))
    give_factor(person)
    page = signed_in(person).get(reverse("backups")).content.decode()

    assert "0812•••••004" in page
    assert "081200000004" not in page
    assert "Rp9.000" not in page

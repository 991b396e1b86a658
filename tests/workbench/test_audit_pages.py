"""The activity log can be searched by person, action, subject and time, and downloaded, which is an event, too."""

import ast
import datetime as dt
import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from approvals.events import APPROVAL_ASKED
from audit.events import SETTING_CHANGED
from audit.facts import all_facts
from audit.models import AuditEvent, Sealing
from audit.services import record, seal
from audit.subjects import Subjects
from audit.tasks import verify_all
from branches.models import FIRST
from branches.services import all_branches
from catalogue.events import PRICE_RULE_CHANGED
from core.rights import Right, Role
from drawers.events import DRAWER_OPENED_OTHERWISE, DRAWER_TAKEN_OVER
from exports.events import EXPORT_MADE
from exports.models import Export
from purchases.events import PRINTED
from purchases.states import Status
from shop.services.changing import TEXTS
from staff.events import LIMIT_CHANGED, ROLE_EDITED, SIGN_IN, SIGN_OUT
from staff.models import LIMITS, User
from staff.roles import ROLES
from testing.database import statements
from testing.factories import make_order
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import cells, codes
from tills.events import PASSWORD_REFUSED
from workbench.events import VERIFICATION_STARTED
from workbench.presenting.events import details_of
from workbench.tasks import write_audit

ROOMS = [room for room in settings.INSTALLED_APPS if (settings.BASE_DIR / room).is_dir()]


@pytest.fixture
def auditor(db: None) -> Client:
    browser = browser_of("auditor")
    sari, budi = make_person("cashier", username="Sari"), make_person("cashier", username="budi")
    record(SIGN_IN, actor=sari)
    record(PRINTED, actor=sari, subject="R1", facts={"number": 1})
    record(LIMIT_CHANGED, actor=budi, subject="sari", before={"per_day": 5}, after={"per_day": 9})
    old = timezone.now() - dt.timedelta(days=40)
    AuditEvent.objects.create(kind=SIGN_OUT.key, person=budi, at=old)
    return browser


def kinds_for(browser: Client, **query: Any) -> list[str]:
    """The kinds that the list shows, newest first."""
    return [event.kind for event in browser.get("/audit/", query).context["table"].rows]


def test_events_are_found_by_person_action_order_and_time(auditor: Client):
    month_ago = (timezone.localdate() - dt.timedelta(days=30)).isoformat()

    assert kinds_for(auditor, person="sari") == ["printed", "sign_in"]
    assert kinds_for(auditor, kind="limit_changed") == ["limit_changed"]
    assert kinds_for(auditor, q=" r1 ") == ["printed"]
    assert kinds_for(auditor, until=month_ago) == ["sign_out"]
    assert kinds_for(auditor, since=month_ago, person="budi") == ["limit_changed"]
    assert kinds_for(auditor, person="nobody") == []
    assert kinds_for(auditor, days="today", person="budi") == ["limit_changed"]
    assert kinds_for(auditor, days="yesterday") == []
    User.objects.filter(username="budi").update(first_name="Budi", last_name="Kasir Dua")
    assert kinds_for(auditor, since=month_ago, person="budi kasir") == ["limit_changed"]
    assert kinds_for(auditor, since=month_ago, person="KASIR") == ["limit_changed"]
    with statements() as asked:
        auditor.get("/audit/")
    assert len(asked) <= 10


def test_the_log_of_one_person_leads_to_the_sales_and_shifts_of_its_days(auditor: Client):
    sari, yesterday = User.objects.get(username="Sari"), timezone.localdate() - dt.timedelta(days=1)
    day = f"since={yesterday}&until={yesterday}"

    page = auditor.get("/audit/", {"person": "sari", "days": "yesterday"})

    assert page.context["table"].rows == []
    assert [url for _name, _words, url in page.context["elsewhere"]["lists"]] == [
        f"/orders/?cashier=Sari&{day}",
        f"/shifts/?cashier={sari.pk}&{day}",
    ]
    assert all(url.replace("&", "&amp;") in page.content.decode() for _n, _w, url in page.context["elsewhere"]["lists"])
    assert auditor.get("/audit/", {"person": "nobody"}).context["elsewhere"] is None
    assert auditor.get("/audit/").context["elsewhere"] is None


def test_a_change_lists_only_what_has_changed_in_words(auditor: Client):
    def details(kind: str) -> str:
        return cells(auditor.get(f"/audit/?kind={kind}"), "details")[0]

    assert "Rp5 → Rp9" in details("limit_changed")

    texts = {"name": "Toko", "paper": "58", "logo": ""}
    record(SETTING_CHANGED, subject="shop", before=texts, after={**texts, "name": "Toko Maju"})
    assert details("setting_changed") == "Name: Toko → Toko Maju"

    # a branch is named, and what stays empty is left out
    second = make_branch("Tebet").pk
    record(SETTING_CHANGED, subject="shop", before={"branch": FIRST}, after={"branch": second, "phone": ""})
    assert details("setting_changed") == f"Branch: {all_branches()[FIRST].name} → Tebet"

    # a role names just the rights that came and went
    gone, *kept = sorted(ROLES[Role.SUPERVISOR])
    come = "catalogue.change_pricerule"
    record(ROLE_EDITED, subject="supervisor", before={"rights": [gone, *kept]}, after={"rights": [*kept, come]})
    page = auditor.get("/audit/?kind=role_edited").content.decode()
    assert f"Rights: + {Right(come).label}, − {Right(gone).label}<" in page
    assert not [name for name in kept if str(Right(name).label) in page]


def test_facts_are_words_in_both_languages(auditor: Client):
    facts = {"act": "take_over_drawer", "reason": "slow_password"}
    record(PASSWORD_REFUSED, subject="Sari", facts=facts)
    record(DRAWER_TAKEN_OVER, subject="shift 7", facts={"drawer": "Laci depan", "by": "password"})
    opened = {"drawer": "Laci depan", "left": 5_000, "counted": 4_000, "difference": -1_000, "reason": "slow"}
    record(DRAWER_OPENED_OTHERWISE, subject="shift 8", facts=opened)
    sale = {"product_name": "Telkomsel 10.000", "price": 10_250, "payment": {"method": "cash"}}
    record(APPROVAL_ASKED, subject="approval:7", facts={"content": sale})
    terms = {"kind": "plus", "value": 500, "round_to": 1}
    record(PRICE_RULE_CHANGED, before={"terms": None}, after={"terms": terms})

    for language, texts in (
        ("en", ["Step: Take over a drawer", "Reason: too many wrong passwords", "By: password", "Product: Telkomsel"]),
        ("id", ["Langkah: Ambil alih laci", "Alasan: terlalu banyak", "Dengan: kata sandi", "Modal: Rp10.250"]),
    ):
        auditor.cookies["django_language"] = language
        page = auditor.get("/audit/", headers={"Accept-Language": language}).content.decode()
        assert [words for words in texts if words not in page] == []
        assert "take_over_drawer" not in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            {
                "Orders": "1–28 Nov 2026, Cashier: cashier, Price: Rp45.000 to Rp60.000, strange: 1",
                "Earnings": "1–28 Nov 2026, By: Brand, Against other days: 1–28 Oct 2026",
                "Journal of a day": "5 Nov 2026",
                "Statement": "from 1 Nov 2026, Kind: Debit",
            },
        ),
        (
            "id",
            {
                "Transaksi": "1–28 Nov 2026, Kasir: cashier, Harga: Rp45.000 sampai Rp60.000, strange: 1",
                "Hasil penjualan": "1–28 Nov 2026, Menurut: Merek, Bandingkan dengan hari lain: 1–28 Okt 2026",
                "Jurnal harian": "5 Nov 2026",
                "Mutasi": "mulai 1 Nov 2026, Jenis: Debit",
            },
        ),
    ],
)
def test_a_file_is_named_by_its_list_and_its_filter_in_words(language: str, words: dict[str, str]):
    make_person("cashier", username="cashier")
    november = "since=2026-11-01&until=2026-11-28"
    for name, query in (
        ("orders", f"cashier=cashier&amount_from=45000&amount_to=60000&strange=1&{november}"),
        ("earnings", f"by=brand&{november}&against_since=2026-10-01&against_until=2026-10-28"),
        ("journal", "day=2026-11-05"),
        ("statement", "kind=debit&since=2026-11-01"),
    ):
        record(EXPORT_MADE, subject=name, facts={"query": query})

    page = browser_of("admin", language=language).get(f"/audit/?kind={EXPORT_MADE.key}")

    said = [details.partition(": ")[2] for details in cells(page, "details")]
    assert dict(zip(cells(page, "subject"), said, strict=True)) == words


def test_every_fact_that_the_code_records_has_a_name():
    recorded = names_recorded()
    assert {"act", "by", "terms", "sha256", "due_days", "logo", "per_day", "left"} <= recorded  # it finds them
    assert recorded - all_facts().keys() == set()


def names_recorded() -> set[str]:
    """The keys that are passed to `record`: as literals, in a variable, or by a function of the module."""
    names = {*LIMITS, *TEXTS}
    texts = [file.read_text() for room in ROOMS for file in (settings.BASE_DIR / room).rglob("*.py")]
    for tree in (ast.parse(text) for text in texts if "record(" in text):
        functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for function in functions.values():
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and called(node) == "record"]
            for given in (keyword for call in calls for keyword in call.keywords):
                if given.arg in {None, "before", "after", "facts"}:
                    names |= keys_of(given.value, function, functions)
    return names - {"before", "after", "facts"}


def called(call: ast.Call) -> str:
    return getattr(call.func, "id", "")


def keys_of(given: ast.AST, function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> set[str]:
    asked = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    parts = [given]
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)} & asked:
                parts.append(node.value)
    helpers = {
        called(node) for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)
    } & functions.keys()
    parts += [functions[name] for name in helpers]
    keys = {key for part in parts for node in ast.walk(part) if isinstance(node, ast.Dict) for key in node.keys}
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def test_a_csv_streams_the_filtered_events_and_is_noted(auditor: Client):
    answer = auditor.get("/audit/csv/?person=sari")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert [line.split(",")[2] for line in lines[1:]] == ["sign_in", "printed"]
    noted = AuditEvent.objects.get(kind=EXPORT_MADE.key)
    assert (noted.subject, noted.person.username) == ("audit", "auditor")
    assert noted.facts == {"format": "csv", "query": "person=sari"}


@pytest.mark.usefixtures("long_books")
def test_a_workbook_is_written_by_the_worker_and_noted(auditor: Client):
    assert auditor.post("/audit/xlsx/?kind=printed").status_code == 302
    export = Export.objects.get()
    write_audit(export.pk)

    export.refresh_from_db()
    assert (export.state, export.rows_done) == ("ready", 1)
    assert AuditEvent.objects.get(kind=EXPORT_MADE.key).facts["format"] == "xlsx"


def test_a_printed_receipt_and_an_exported_statement_are_noted(auditor: Client):
    order = make_order(Status.SUCCESS, sn="1")
    browser_of("cashier").post(f"/orders/{order.ref_id}/receipt/", {"paper": "58"}, REMOTE_ADDR="203.0.113.5")
    b"".join(auditor.get("/balance/statement/csv/?kind=debit").streaming_content)

    noted = AuditEvent.objects.get(kind=PRINTED.key, subject=order.ref_id)
    assert (noted.person.username, noted.address) == ("cashier", "203.0.113.5")
    assert noted.facts == {"number": 1, "paper": "58"}
    assert AuditEvent.objects.get(kind=EXPORT_MADE.key).facts == {"format": "csv", "query": "kind=debit"}


def test_a_reader_meets_no_code_no_raw_time_and_no_hash(db: None):
    admin = make_person("administrator", language="en")
    facts = {
        "content": {"label": "unexplained_debit", "before": 5_000},
        "expires": "2026-11-26T08:00:00+00:00",
        "changes": {},
        "sha256": "802a4adf539abc87",
    }
    record(APPROVAL_ASKED, actor=admin, subject="1", facts=facts)
    rights = {"cashier": ["bills.view_billcheck"]}
    record(ROLE_EDITED, actor=None, subject="roles", before={"cashier": []}, after=rights)

    events = list(AuditEvent.objects.order_by("-pk")[:2])[::-1]
    lines = [str(details_of(event, Subjects(events, admin), lambda _list, query: query)) for event in events]

    assert "Unexplained debit" in lines[0]
    assert "Before: Rp5.000" in lines[0]
    assert "802a4adf" not in lines[0]
    assert "+00:00" not in lines[0]
    assert len(re.findall("<div>", lines[0])) == 2
    assert "view_billcheck" not in lines[1]


def test_an_auditor_sees_the_last_verification_and_its_flaw(auditor: Client):
    def sound() -> str:
        return re.search(r'id="verified" data-sound="(\w*)"', auditor.get("/audit/").content.decode())[1]

    Sealing.objects.all().delete()
    assert sound() == ""
    Sealing.objects.create(verified_at=timezone.now())
    assert sound() == "yes"
    Sealing.objects.update(flaw={"reason": "changed", "table": "ledger_entry", "id": 17})
    assert sound() == "no"
    assert "changed ledger_entry 17" in auditor.get("/audit/").content.decode()


def test_an_auditor_starts_a_verification_of_all_rows_once_in_ten_minutes(auditor: Client, monkeypatch: Any):
    published: list[str] = []
    monkeypatch.setattr("workbench.views.verifying.publish", lambda task: published.append(task) or True)
    Sealing.objects.all().delete()
    seal()

    answers = [auditor.post("/audit/verify/", follow=True) for _ in range(2)]

    assert published == [verify_all.name]
    assert [codes(answer) for answer in answers] == [{"verification_started"}, {"verified_lately"}]
    event = AuditEvent.objects.get(kind=VERIFICATION_STARTED.key)
    assert event.person.username == "auditor"
    verify_all()
    assert Sealing.objects.get().verified_at is not None
    monkeypatch.setattr("workbench.views.verifying._ONCE_IN", dt.timedelta(0))
    auditor.post("/audit/verify/", follow=True)
    assert len(published) == 2
    # without workers no verification is said to run
    monkeypatch.setattr("workbench.views.verifying.publish", lambda _task: False)
    assert codes(auditor.post("/audit/verify/", follow=True)) == {"workers_away"}


def test_rights_that_an_update_gives_are_in_words(auditor: Client):
    record(ROLE_EDITED, subject="supervisor", after={"given": [Right.RELEASE_BATCHES.value]})

    details = cells(auditor.get("/audit/", {"kind": ROLE_EDITED.key}), "details")[0]

    assert str(Right.RELEASE_BATCHES.label) in details
    assert "release_batch" not in details

"""Each way gets the result of a day once, with the figures of its orders, if the person may see them."""

import datetime as dt
import re
from email import message_from_bytes, policy

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from django.utils.html import escape

from alerts.models import ResultChoice, ResultMessage
from alerts.services.results import Span, State, choose_results, latest_results, send_results
from audit.models import AuditEvent
from catalogue.models import Brand
from core.times import start_of_day
from policies.models import Policies
from policies.services import forget
from purchases.states import Status
from shop.models import Shop
from staff.models import User
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.earnings.helpers import sold

pytestmark = pytest.mark.django_db(transaction=True)

DAY = dt.date(2026, 11, 25)  # a Wednesday
BOT = "123456789:SECRETabcdefghijklmnopqrstuvwxyzABC"


def at(hour: float, day: int = 25) -> dt.datetime:
    return start_of_day(DAY.replace(day=day)) + dt.timedelta(hours=hour)


def beat(moment: dt.datetime) -> None:
    with time_machine.travel(moment, tick=False):
        send_results()


def choose(moment: dt.datetime, *, evening: bool = True, weekly: bool = False, role: str = "admin") -> None:
    with time_machine.travel(moment, tick=False):
        choose_results(evening=evening, weekly=weekly, person=make_person(role, username=f"{role}-results"))


@pytest.fixture
def owner() -> None:
    """An owner who chose the evening at nine in the morning."""
    choose(at(9))


@pytest.mark.usefixtures("owner")
def test_the_evenings_result_has_the_days_figures_and_leaves_once(webhook, settings):
    settings.SITE_URL = "https://shop.example.com/"
    sell_a_day()
    sold(at(22), selling_price=90_000)  # after closing
    inside = []
    webhook.during = lambda: inside.append(connection.in_atomic_block)

    beat(at(20.9))
    assert webhook.taken == []
    for hour in (21, 21.1, 23, 25):
        beat(at(hour))

    (sent,) = webhook.taken
    assert sent["title"] == f"[{settings.SHOP_NAME}] Result of the day: Wed 25 Nov"
    assert sent["message"] == f"{TABLE}\n\n{TEXT}"
    assert inside == [False], "outside any transaction"
    message = ResultMessage.objects.get()
    assert (message.span, message.day, message.state) == (Span.EVENING, DAY, State.SENT)


def sell_a_day() -> None:
    """Sari sells two; a week before, somebody sold one at a higher price."""
    cashier, product = make_person("cashier", username="sari"), make_product()
    Brand.objects.update(name="XL <&> Prabayar")
    for _number in range(2):
        sold(at(10), placed_by=cashier, product=product, destination="081234567890")
    sold(at(11), Status.FAILED, product=product)
    sold(at(11, day=18), selling_price=16_000, product=product)


TABLE = """\
Sales         Rp24.000 ▲50%
Profit         Rp3.000 ▼45.5%
Sold                 2 ▲100%
Went through     66.7% ▼33.3 points

Brand
XL <&> Praba… Rp24.000 2

Cashier
sari          Rp24.000 2"""
TEXT = """\
▲▼ against Wed 18 Nov, until 21:00
Needs attention: 0
https://shop.example.com/earnings/?since=2026-11-25&until=2026-11-25"""


@pytest.mark.usefixtures("owner")
def test_telegram_and_a_mail_show_the_table_as_it_is_aligned(telegram, mailbox, settings):
    settings.ALERT_URLS = [*settings.ALERT_URLS, f"tgram://{BOT}/-42/"]
    settings.SITE_URL = "https://shop.example.com"
    sell_a_day()

    beat(at(21))

    (sent,) = telegram.taken
    title, table, *lines = re.split(r"\r\n(?=<pre>)|(?<=</pre>)\r\n|\r\n", sent["text"])
    assert sent["parse_mode"] == "HTML"
    assert title == f"<b>[{settings.SHOP_NAME}] Result of the day: Wed 25 Nov</b>"
    assert table == f"<pre>{escape(TABLE)}</pre>"
    assert "XL &lt;&amp;&gt; Praba…" in table
    assert lines == escape(TEXT).split("\n")

    mail = message_from_bytes(mailbox.taken[0], policy=policy.default)
    plain, marked_up = (mail.get_body([kind]).get_content().replace("\r\n", "\n") for kind in ("plain", "html"))
    assert mail["Subject"] == f"[{settings.SHOP_NAME}] Result of the day: Wed 25 Nov"
    assert plain.strip().replace("\n\n", "\n") == f"{TABLE}\n{TEXT}".replace("\n\n", "\n")
    assert f"<pre>{escape(TABLE)}</pre>" in marked_up
    assert "081234567890" not in plain + marked_up


def test_it_is_in_the_language_of_its_readers_else_the_shops(webhook):
    for role in ("admin", "supervisor"):
        choose(at(9), role=role)
    readers = User.objects.filter(username__endswith="-results").order_by("username")

    for languages, of_shop, title in [
        (["id", "id"], "en", "Hasil harian"),
        (["en", ""], "id", "Result of the day"),
        (["en", "id"], "id", "Hasil harian"),
        (["", ""], "id", "Hasil harian"),
        (["", ""], "", "Result of the day"),
    ]:
        Shop.objects.update_or_create(defaults={"name": "Toko Kita", "language": of_shop})
        for reader, language in zip(readers, languages, strict=True):
            User.objects.filter(pk=reader.pk).update(language=language)
        ResultMessage.objects.all().delete()

        beat(at(21))

        assert title in webhook.taken[-1]["title"], (languages, of_shop)
    assert len(webhook.taken) == 5


@pytest.mark.usefixtures("owner")
def test_a_new_way_gets_nothing_that_was_due_before_it_was_added(telegram):
    with time_machine.travel(at(22), tick=False):
        browser_of("admin").confirm("/balance/alerts/ways/", {"name": "Boss", "token": BOT, "chat": "-42"})
    telegram.taken.clear()

    beat(at(22.1))
    assert telegram.taken == []
    beat(at(21, day=26))

    (sent,) = telegram.taken
    assert "Result of the day: Thu 26 Nov" in sent["text"]
    assert "Not sent before" not in sent["text"]


@pytest.mark.usefixtures("owner")
def test_a_process_that_ended_while_sending_never_sends_it_twice(webhook, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("alerts.services.ways.Way.send", _ends)
        with pytest.raises(SystemExit):
            beat(at(21))

    for hour in (21.01, 21.5, 23):
        beat(at(hour))

    assert webhook.taken == []
    assert ResultMessage.objects.get().state == State.UNCLEAR

    beat(at(21, day=26))
    (sent,) = webhook.taken
    assert "Not sent before: 25 Nov 2026" in sent["message"]


def _ends(*_args: object, **_facts: object) -> None:
    raise SystemExit


@pytest.mark.usefixtures("owner")
def test_a_definite_no_is_tried_again_and_the_wait_grows(webhook):
    webhook.answer = 500
    for hour in (21, 21.01, 21.04, 21.05):
        beat(at(hour))
    assert len(webhook.taken) == 2

    webhook.answer = 200
    beat(at(22))
    beat(at(23))

    assert len(webhook.taken) == 3
    assert ResultMessage.objects.get().state == State.SENT


def test_nothing_is_sent_that_was_due_before_it_was_chosen_or_without_the_right(webhook):
    choose(at(21.5), role="supervisor")

    beat(at(22))
    assert webhook.taken == []
    beat(at(9, day=27))  # a missed evening is sent late

    (sent,) = webhook.taken
    assert "Result of the day: Thu 26 Nov" in sent["title"]
    assert "Not sent before" not in sent["message"]
    ResultChoice.objects.get().person.groups.clear()
    beat(at(21, day=27))
    assert len(webhook.taken) == 1


def test_the_week_comes_on_monday_morning(webhook):
    choose(at(9, day=26), evening=False, weekly=True)
    for day in (23, 29, 30):
        sold(at(12, day=day))

    beat(at(6.9, day=30))
    assert webhook.taken == []
    beat(at(7, day=30))

    (sent,) = webhook.taken
    assert "Result of the week: Mon 23 Nov – Sun 29 Nov" in sent["title"]
    assert re.search(r"^Sales +Rp24.000$", sent["message"], re.M)


def test_it_is_due_when_the_shop_closes():
    for opens, closes, due in [("", "", "25 21:00"), ("08:00", "20:30", "25 20:30"), ("10:00", "02:00", "26 02:00")]:
        Policies.objects.update_or_create(defaults={"opens_at": opens or None, "closes_at": closes or None})
        forget()

        evening, _week = latest_results(at(12, day=26))

        assert (evening.day, f"{timezone.localtime(evening.at):%d %H:%M}") == (DAY, due)
        assert evening.chosen.period.until == min(evening.at, at(24))


def test_a_person_chooses_and_sends_a_test(webhook):
    owner = browser_of("admin")

    owner.post("/balance/alerts/results/", {"evening": "1"})
    page = owner.get("/me/").content.decode()
    owner.post("/balance/alerts/results/test/")

    choice = ResultChoice.objects.get()
    assert (choice.evening, choice.weekly) == (True, False)
    assert "checked" in page.partition('name="evening"')[2].partition(">")[0]
    assert AuditEvent.objects.filter(kind="results_chosen").count() == 1
    assert "Result of the day" in webhook.taken[0]["title"]
    assert ResultMessage.objects.count() == 0


def test_a_cashier_neither_sees_nor_chooses_it(webhook):
    cashier = browser_of("cashier")

    assert 'id="results"' not in cashier.get("/me/").content.decode()
    answers = [cashier.post(f"/balance/alerts/results/{name}").status_code for name in ("", "test/")]
    assert (answers, webhook.taken) == ([403, 403], [])

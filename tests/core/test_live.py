"""A live page asks less and less often, gets only news, and stops when all is over."""

import hashlib
from urllib.parse import parse_qs, urlsplit

from django.contrib.sessions.backends.base import SessionBase
from django.test import RequestFactory

from core.live import Live, expect_news, seen_keys


def request_of(question: str = "/x/"):
    request = RequestFactory().get(question)
    request.session = SessionBase()
    return request


def test_only_the_parts_that_changed_are_news():
    first = Live(request_of(), "/x/", {"a": "pending", "b": "pending"})

    answer = Live(request_of(first.ask), "/x/", {"a": "success", "b": "pending"}, over={"a"})

    assert answer.news == {"a"}
    assert "hx-swap-oob" in answer.swap
    assert "a~" not in parse_qs(urlsplit(answer.ask).query)["seen"][0]


def test_without_news_the_questions_come_more_and_more_seldom():
    shown = Live(request_of(), "/x/", {"a": 1})

    for quiet, delay in {0: 2, 9: 4, 19: 7, 29: 10, 99: 10}.items():
        answer = Live(request_of(shown.ask.replace("quiet=0", f"quiet={quiet}")), "/x/", {"a": 1})
        assert answer.delay == delay, quiet

    # news make them quick again
    assert Live(request_of(shown.ask.replace("quiet=0", "quiet=50")), "/x/", {"a": 2}).delay == 2


def test_what_a_page_shows_is_not_found_by_trying():
    shown = Live(request_of(), "/x/", {"a": 1_663})

    seen = parse_qs(urlsplit(shown.ask).query)["seen"][0].removeprefix("a~")

    assert seen != hashlib.sha256(repr(1_663).encode()).hexdigest()[: len(seen)]


def test_when_all_parts_are_over_nothing_more_is_asked():
    assert Live(request_of(), "/x/", {"a": 1}, over={"a"}).delay is None
    assert Live(request_of(), "/x/", {}).delay is None


def test_a_page_asks_sooner_when_news_are_expected():
    request = request_of()
    assert Live(request, "/x/", {"a": 1}, over={"a"}, rest=30).delay == 30

    expect_news(request)

    assert Live(request, "/x/", {"a": 1}, over={"a"}, rest=30).delay == 2


def test_a_part_that_ends_at_a_known_time_is_asked_for_by_then():
    assert Live(request_of(), "/x/", {"a": 1}, over={"a"}, rest=10, within=3).delay == 3


def test_keys_that_make_no_sense_are_left_out():
    for seen in ("row-1~a,row-²~a,row-99999999999999999999~a,other-2~a,row~a", "row-1"):
        assert seen_keys(request_of(f"/x/?seen={seen}")) == [1], seen

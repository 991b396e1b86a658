"""The list of work: everything that waits for a person, and the people who took it."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _, pgettext
from django.views.decorators.http import require_GET, require_POST

from branches.seeing import names_branches, own_branch
from branches.services import branch_names
from core.access import StaffRequest, staff_only
from core.live import Live
from core.rights import Right
from core.together import read_together
from credit.filters import AgeingFilter
from credit.services import name_of, owed_in_all
from shop.services import shop_name
from staff.models import User
from staff.services import holders_of_any
from work import services
from work.kinds import KINDS
from work.kinds.kind import WorkKind
from work.services import Item
from work.tables import Task, WorkTable, due_words, group_of

_ROWS = 50
# The number of rows on the overview.
_FIRST = 8
# The most customers with overdue tabs that are named.
_DEBTORS = 3
# The most people who are named for a row: they hold one of these rights, in this branch.
_DOERS = 3
_Wanted = tuple[tuple[Right, ...], int | None]


@staff_only()
@require_GET
def work_list(request: StaffRequest) -> HttpResponse:
    """The waiting work, the first due on top, by the filters in the URL: the person, the kind, the branch."""
    return render(request, "work/work_list.html", _context(request) | _tabs_overdue(request))


@staff_only()
@require_GET
def work_live(request: StaffRequest) -> HttpResponse:
    """The list, if it differs from the page, and when to ask next."""
    return render(request, "work/work_list.html#live", _context(request))


@staff_only()
@require_GET
def work_first(request: StaffRequest) -> HttpResponse:
    """The part of the overview: the person's own work that is due now, and the number of rows that are due later.

    People who do no such work see the shop's work.
    """
    branch = _branch_of(request)
    every = services.open_work(request.user, branch=int(branch) if branch else None)
    mine = [item for item in every if _is_mine(item, request.user)]
    does_any = bool(services.scope_of(request.user).does)
    items = mine if does_any else every
    now = timezone.now()
    due_now = [item for item in items if group_of(item, now) != "later"]
    later = Counter(item.kind for item in items[len(due_now) :])
    context = {
        "table": _table(request, due_now[:_FIRST]),
        "count": len(items),
        "more": max(0, len(due_now) - _FIRST),
        "later": [KINDS[kind].counted % {"n": number} for kind, number in later.items()],
        "whose": "" if does_any else "shop",
        "others": len(every) - len(items),
        "branch": _branches().get(branch, ""),
        "of_branch": f"&branch={branch}" if branch else "",
    }
    return render(request, "work/first.html", context | _tabs_overdue(request))


@staff_only()
@require_POST
def work_take(request: StaffRequest, kind: str, key: int) -> HttpResponse:
    """Take a row, or leave it; others see that beside it."""
    if not services.scope_of(request.user).does:
        raise PermissionDenied
    if not any(item.is_for_person for item in services.open_work(request.user, kind=kind) if item.key == key):
        raise Http404
    if "leave" in request.POST:
        services.leave(kind, key, actor=request.user)
        messages.success(request, _("It is free again: others can do it."), extra_tags="work_left")
    else:
        services.take(kind, key, actor=request.user)
        messages.success(request, _("Others see that you do it."), extra_tags="work_taken")
    back = request.POST.get("back", "")
    is_ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours else "work")


def _context(request: StaffRequest) -> dict[str, Any]:
    branch, kind = _branch_of(request), request.GET.get("kind", "")
    kind = kind if kind in KINDS else ""
    every = services.open_work(request.user, branch=int(branch) if branch else None)
    if kind and len(every) == services.MOST:  # rows of this kind may be due after all of these
        every = services.open_work(request.user, branch=int(branch) if branch else None, kind=kind)
    groups = {
        "": [item for item in every if _is_mine(item, request.user)],
        "others": [item for item in every if not _is_mine(item, request.user)],
        "shop": every,
    }
    # A kind alone is the queue of that kind: all of it that the person sees.
    whose = request.GET.get("whose", "shop" if kind else "")
    whose = whose if whose in groups else ""
    in_group = groups[whose]
    items = [item for item in in_group if item.kind == kind] if kind else in_group
    page = Paginator(items, _ROWS).get_page(request.GET.get("page"))
    now = timezone.now()
    shown = [(item.kind, item.key, item.taken_by, due_words(item, now)) for item in page]
    filters = {"whose": whose, "kind": kind} | ({"branch": branch} if branch else {})
    address = f"{reverse('work_live')}?{urlencode(filters | {'page': page.number})}"
    live = Live(request, address, {"work": [len(items), shown]}, rest=10)
    counts = Counter(item.kind for item in in_group)
    return {
        "whose": whose,
        "kind": kind,
        "branch": branch,
        "of_kind": KINDS[kind] if kind and KINDS[kind].may_see(request.user) else None,
        "branches": _branches().items(),
        "of_branch": f"&branch={branch}" if branch else "",
        "groups": [
            (code, words, len([item for item in groups[code] if kind in {"", item.kind}]))
            for code, words in (
                ("", pgettext("work", "For me")),
                ("others", _("Waits for somebody else")),
                ("shop", pgettext("work", "This branch") if own_branch() else pgettext("work", "The whole shop")),
            )
        ],
        "kinds": [(code, KINDS[code].shown, counts[code]) for code in dict.fromkeys([*counts, kind]) if code],
        "none": _none_of(request.user, every, branch) if live.news and not kind else [],
        "of_shop": _of_shop(request.user, branch) if not kind else [],
        "count": len(in_group),
        "page": page,
        "table": _table(request, list(page), is_work=True) if live.news else None,
        "live": live,
        "has_more": len(every) == services.MOST,
    }


def _tabs_overdue(request: StaffRequest) -> dict[str, Any]:
    """The overdue debts of customers, the oldest by name, and their list, for people who may see that list."""
    if not request.user.has_perm(Right.VIEW_CREDIT):
        return {}
    params = {"age": "due"} | ({"branch": branch} if (branch := _branch_of(request)) else {})
    accounts = AgeingFilter.of(params).qs
    owed, count = owed_in_all(accounts)
    sees_names = bool(count) and request.user.has_perm(Right.VIEW_CUSTOMERS)
    named = accounts.exclude(customer=None).select_related("customer")[:_DEBTORS] if sees_names else ()
    today = timezone.localdate()
    tabs = [
        {
            "name": name_of(tab),
            "owed": tab.balance,
            "days_late": (today - (tab.oldest_due or today)).days,
            "url": reverse("credit_account", args=[tab.customer_id]),
        }
        for tab in named
    ]
    url = f"{reverse('credit_list')}?{urlencode(params)}"
    facts = {"owed": owed, "count": count, "url": url, "named": tabs, "unnamed": count - len(tabs)}
    return {"tabs_overdue": facts}


def _branches() -> dict[str, str]:
    """The branches that the page can be narrowed to, by their keys."""
    return {str(pk): name for pk, name in branch_names()} if names_branches() else {}


def _branch_of(request: StaffRequest) -> str:
    """The key of the branch that the address chooses; empty for all."""
    branch = request.GET.get("branch", "")
    return branch if branch in _branches() else ""


def _said_if_none(person: User, branch: str) -> list[str]:
    """The kinds of which this person reads that there are none; in one branch, only kinds that belong to branches."""
    said = {code: each for code, each in KINDS.items() if each.says_none and (each.branch or not branch)}
    return [code for code, each in said.items() if each.may_see(person) and each.may_do(person)]


def _none_of(person: User, every: Collection[Item], branch: str) -> list[WorkKind]:
    """The kinds of which nothing is open; none if there may be more items than were read."""
    if len(every) >= services.MOST:
        return []
    kinds = {item.kind for item in every}
    return [KINDS[code] for code in _said_if_none(person, branch) if code not in kinds and KINDS[code].is_none()]


def _of_shop(person: User, branch: str) -> list[WorkKind]:
    """The kinds among these that belong to no branch, so that a page of one branch has no row of them."""
    return [KINDS[code] for code in _said_if_none(person, "") if branch and not KINDS[code].branch]


def _is_mine(item: Item, person: User) -> bool:
    return item.is_for_person and item.taken_by in {None, person.pk}


def _table(request: StaffRequest, items: list[Item], *, is_work: bool = False) -> WorkTable:
    lines = {
        (code, key): line
        for code in {item.kind for item in items}
        for key, line in KINDS[code].lines([item.key for item in items if item.kind == code], request.user).items()
    }
    takers = {item.taken_by for item in items if item.taken_by}
    names = {person.pk: person.shown_name for person in User.objects.filter(pk__in=takers)}
    lined = [(item, lines.get((item.kind, item.key))) for item in items]
    # Without a line it was done a moment ago.
    shown = [(item, line, (line.does or KINDS[item.kind].does, item.branch)) for item, line in lined if line]
    places = _places(request)
    doers = _doers({asked for item, _line, asked in shown if not item.is_for_person}, request.user)
    tasks = [
        Task(
            item,
            line,
            names.get(item.taken_by or 0, ""),
            places.get(item.branch or 0, ""),
            line.doers or doers.get(asked, ""),
        )
        for item, line, asked in shown
    ]
    return WorkTable(tasks, request=request, is_work=is_work)


def _places(request: StaffRequest) -> dict[int, str]:
    """The branches that a row names; not the place that has the name of the shop, and none on a page of one branch."""
    if not names_branches() or _branch_of(request):
        return {}
    usual = shop_name()
    return {key: name for key, name in branch_names() if name != usual}


def _doers(wanted: Collection[_Wanted], reader: User) -> dict[_Wanted, str]:
    """For each tuple of rights and branch, the names of some other people there who hold one of these rights."""
    questions = {
        (rights, branch): holders_of_any(rights, branch=branch).exclude(pk=reader.pk)[:_DOERS]
        for rights, branch in wanted
        if rights
    }
    found = read_together(*questions.values()) if questions else []
    return {
        asked: ", ".join(person.shown_name for person in people) for asked, people in zip(questions, found, strict=True)
    }

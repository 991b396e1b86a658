"""Selling prices: the rules, and a change of one with what it does to every product before it is saved."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from approvals.errors import AlreadyAsked
from approvals.services import open_approval
from audit.acts import act
from catalogue import services
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.forms import END, TargetForm, TermsForm, typed_terms
from catalogue.models import PriceRuleKind
from catalogue.services.acts import PriceRuleAct
from catalogue.services.rules import Preview, Target
from catalogue.services.terms import Terms
from catalogue.tables import PriceRuleTable
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.rights import Right
from staff.confirming import check_factor
from staff.errors import FactorRefused

PAGE_SIZE = 50
NARROWER_SHOWN = 10
CHANGE_RULE = act("change_price_rule", pgettext_lazy("audit", "Change selling prices"), Right.CHANGE_PRICES)
# The content of the second factor: the typed form, with the digest of the shown prices.
_BOUND = ("target", "kind", "value", "at_least", "round_to", "seen", "reason")


@staff_only(Right.VIEW_PRODUCT, Right.VIEW_COST)
@require_GET
def prices(request: StaffRequest) -> HttpResponse:
    """Every active price rule, and how many products sell at cost because none is for them."""
    context = {
        "table": PriceRuleTable(services.active_rules(), may_change=request.user.has_perm(Right.CHANGE_PRICES)),
        "at_cost": services.sold_at_cost(),
        "below_cost": services.sold_below_cost(20),
    }
    return render(request, "catalogue/prices.html", context)


@staff_only(Right.VIEW_PRODUCT, Right.VIEW_COST, Right.CHANGE_PRICES)
@require_http_methods(["GET", "POST"])
def price_rule(request: StaffRequest) -> HttpResponse:
    """Choose what the rule is for, then how it makes the price; show every price before and after; save it (POST).

    All of it stands in the address until it is saved, which takes a second factor.
    """
    typed = request.POST if request.method == "POST" else request.GET
    which = TargetForm(typed if "target" in typed or "product" in typed else None)
    if not which.is_valid() or which.chosen is None:
        return render(request, "catalogue/price_rule.html", {"which": which.offer()})
    target = which.chosen
    before = Terms.of(target.rule())
    form = TermsForm(typed if "kind" in typed else None, target=target, has_rule=before is not None)
    if "kind" not in typed:
        # People change what holds; at first nothing does.
        holds = before or Terms.of(services.rule_above(target))
        form.initial = typed_terms(holds) if holds else {"kind": PriceRuleKind.PLUS}
    if not form.is_valid():
        return _show(request, target, before, form)
    if request.method != "POST":
        return _show(request, target, before, form, _preview(request, target, form.terms))
    return _save(request, target, before, form)


def _save(request: StaffRequest, target: Target, before: Terms | None, form: TermsForm) -> HttpResponse:
    seen = request.POST.get("seen", "")
    try:
        check_factor(request, act=CHANGE_RULE, content={name: request.POST.get(name, "") for name in _BOUND})
        services.change_rule(target, form.terms, actor=request.user, seen=seen)
    except NeedsSecondPerson as need:
        try:
            approval = services.ask_for_rule(need, actor=request.user, reason=request.POST.get("reason", ""))
        except RuleRefused as refusal:
            return _show(request, target, before, form, _preview(request, target, form.terms), refusal=refusal)
        except AlreadyAsked as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
            return redirect(refusal.approval)
        messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
        return redirect(approval)
    except (RuleRefused, FactorRefused) as refusal:
        return _show(request, target, before, form, _preview(request, target, form.terms), refusal=refusal)
    words = _("The rule has ended.") if form.terms is None else _("The rule is saved. The new prices hold from now on.")
    messages.success(request, words, extra_tags="price_rule_changed")
    return redirect("prices")


def _preview(request: StaffRequest, target: Target, terms: Terms | None) -> Preview:
    number = request.GET.get("page", "")
    page = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else 1
    return services.preview(target, terms, first=(max(page, 1) - 1) * PAGE_SIZE, count=PAGE_SIZE)


def _show(
    request: StaffRequest,
    target: Target,
    before: Terms | None,
    form: TermsForm,
    change: Preview | None = None,
    *,
    refusal: Refused | None = None,
) -> HttpResponse:
    above = services.rule_above(target)
    context: dict[str, Any] = {
        "which": None,
        "target": target,
        "target_name": target.name or services.name_of_all(target.key),
        "before": services.holding_words(before, above),
        "form": form,
        "change": change,
        "refusal": refusal,
        "waiting": open_approval(PriceRuleAct.name, target.key),
        "end": END,
        "factor_act": CHANGE_RULE,
        "factor_fields": " ".join(_BOUND),
    }
    if change:
        narrower = services.narrower_targets(target)
        context |= {
            "narrower": narrower[:NARROWER_SHOWN],
            "has_more_narrower": len(narrower) > NARROWER_SHOWN,
            "after": services.holding_words(change.after, above),
            "seen": change.hash,
            "page": Paginator(range(change.affected), PAGE_SIZE).get_page(request.GET.get("page")),
            "is_same": change.before == change.after,
        }
    return render(request, "catalogue/price_rule.html", context)

"""Selling prices: the rules, and the change of a rule, with its effect on every product shown before it is saved."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, ngettext, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from approvals.errors import AlreadyAsked
from approvals.services import open_approval
from audit.acts import act
from catalogue import services
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.forms import AS_NOW, END, TargetForm, TermsForm, typed_terms
from catalogue.models import PriceRule, PriceRuleKind
from catalogue.services.acts import PriceRuleAct
from catalogue.services.effects import Preview
from catalogue.services.targets import Target
from catalogue.services.terms import AsNow, Terms
from catalogue.tables import PriceRuleTable
from core.access import StaffRequest, staff_only
from core.errors import Refused
from core.money import rupiah
from core.rights import Right
from staff.confirming import check_factor
from staff.errors import FactorRefused

# The rules of the parts of a target.
Rules = list[PriceRule | None]
PAGE_SIZE = 50
NARROWER_SHOWN = 10
CHANGE_RULE = act("change_price_rule", pgettext_lazy("audit", "Change selling prices"), Right.CHANGE_PRICES)
# The content of the second factor: the typed form, with the digest of the shown prices.
_BOUND = ("target", "kind", "value", "at_least", "round_to", "seen", "reason")


@staff_only(Right.VIEW_PRODUCT, Right.VIEW_COST)
@require_GET
def prices(request: StaffRequest) -> HttpResponse:
    """Every active price rule, and how many products sell at cost because they have no rule."""
    may_change = request.user.has_perm(Right.CHANGE_PRICES)
    everywhere = [target for target in services.in_several_categories() if not target.is_bill] if may_change else []
    context = {
        "table": PriceRuleTable(services.active_rules(), may_change=may_change),
        "everywhere": services.by_what_sells(everywhere),
        "as_now": AS_NOW,
        "at_cost": services.sold_at_cost(),
        "below_cost": services.sold_below_cost(20),
    }
    return render(request, "catalogue/prices.html", context)


@staff_only(Right.VIEW_PRODUCT, Right.VIEW_COST, Right.CHANGE_PRICES)
@require_http_methods(["GET", "POST"])
def price_rule(request: StaffRequest) -> HttpResponse:
    """Choose the rule's target, then how it makes the price; show every price before and after; save it (POST).

    The choices are in the address until the rule is saved, which takes a second factor.
    """
    typed = request.POST if request.method == "POST" else request.GET
    which = TargetForm(typed if "target" in typed or "product" in typed else None)
    if not which.is_valid() or which.chosen is None:
        return render(request, "catalogue/price_rule.html", {"which": which.offer()})
    target = which.chosen
    own = services.own_rules(target)
    form = TermsForm(typed if "kind" in typed else None, target=target, has_rule=any(own))
    if "kind" not in typed:
        form.begin_with(_first_terms(target, own))
    if not form.is_valid():
        return _show(request, target, own, form)
    if request.method != "POST":
        return _show(request, target, own, form, _preview(request, target, form.terms, own))
    return _save(request, target, own, form)


def _first_terms(target: Target, own: Rules) -> dict[str, Any]:
    """The form's first values: the terms that hold now; for several brands with different rules, "as now"."""
    above = [None] * len(own) if all(own) else services.rules_above(target)
    holding = [Terms.of(rule or wider) for rule, wider in zip(own, above, strict=True)]
    first = typed_terms(holding[0]) if holding[0] else {"kind": PriceRuleKind.PLUS}
    is_kept = target.also and not target.is_bill and not (all(own) and len(set(holding)) == 1)
    return first | {"kind": AS_NOW} if is_kept else first


def _save(request: StaffRequest, target: Target, own: Rules, form: TermsForm) -> HttpResponse:
    seen, reason = request.POST.get("seen", ""), request.POST.get("reason", "")
    try:
        services.refuse_rule(target, form.terms, seen=seen, reason=reason)  # a code would be used up
        check_factor(request, act=CHANGE_RULE, content={name: request.POST.get(name, "") for name in _BOUND})
        change = services.change_rule(target, form.terms, actor=request.user, seen=seen)
    except NeedsSecondPerson as need:
        try:
            approval = services.ask_for_rule(need, actor=request.user, reason=reason)
        except RuleRefused as refusal:
            return _show(request, target, own, form, _preview(request, target, form.terms), refusal=refusal)
        except AlreadyAsked as refusal:
            messages.error(request, str(refusal), extra_tags=refusal.code)
            return redirect(refusal.approval)
        messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
        return redirect(approval)
    except (RuleRefused, FactorRefused) as refusal:
        return _show(request, target, own, form, _preview(request, target, form.terms), refusal=refusal)
    if change.affected and form.terms is not None:
        words = _said_of(change)
    elif form.terms is None:
        words = _("Its rules have ended.") if target.also else _("The rule has ended.")
    elif target.also:
        words = _("The rules are saved. The new prices hold from now on.")
    else:
        words = _("The rule is saved. The new prices hold from now on.")
    messages.success(request, words, extra_tags="price_rule_changed")
    return redirect("prices")


def _said_of(change: Preview) -> str:
    """The words after saving: how many products of the brand still earn less than was asked, else the least profit of a
    sale, over all products of a brand, or over the changed products for other targets."""
    if change.earning_less:
        still = ngettext(
            "Saved. %(less)s product still earns less than %(asked)s.",
            "Saved. %(less)s products still earn less than %(asked)s.",
            change.earning_less,
        )
        return still % {"less": change.earning_less, "asked": rupiah(change.least_asked)}
    least = change.least_margin if change.least_of_all is None else change.least_of_all
    return _("Saved. Lowest profit: %(least)s.") % {"least": rupiah(least)}


def _each_change(change: Preview, held: list[str]) -> list[tuple[Target, str, str]]:
    """The parts of the target, each with the words for its present terms and for its terms afterwards."""
    parts = zip(change.target.parts, held, change.rules, change.after, strict=True)
    return [
        (part, words, services.own_words(part.key, terms) if terms != Terms.of(rule) else _("as now"))
        for part, words, rule, terms in parts
    ]


def _preview(request: StaffRequest, target: Target, terms: Terms | AsNow | None, rules: Rules | None = None) -> Preview:
    number = request.GET.get("page", "")
    page = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else 1
    return services.preview(target, terms, rules=rules, first=(max(page, 1) - 1) * PAGE_SIZE, count=PAGE_SIZE)


def _show(
    request: StaffRequest,
    target: Target,
    own: Rules,
    form: TermsForm,
    change: Preview | None = None,
    *,
    refusal: Refused | None = None,
) -> HttpResponse:
    above = services.rules_above(target)
    held = [services.holding_words(Terms.of(rule), wider) for rule, wider in zip(own, above, strict=True)]
    context: dict[str, Any] = {
        "which": None,
        "target": target,
        "before": held[0],
        "each_before": list(zip(target.parts, held, strict=True)) if target.also else [],
        "everywhere": services.in_several_categories(target.brand.pk) if target.brand and not target.also else [],
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
            "after": services.holding_words(change.asked, above[0]),
            "each_change": _each_change(change, held) if target.also else [],
            "seen": change.hash,
            "page": Paginator(range(change.affected), PAGE_SIZE).get_page(request.GET.get("page")),
        }
    return render(request, "catalogue/price_rule.html", context)

"""Merges two customers into one."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.keys import typed_key
from core.notation import without_marks
from core.rights import Right
from core.search import found_by
from customers.forms import MergeForm
from customers.models import Customer, CustomerQuerySet
from customers.services import where_merged
from drawers.services import merge_customers

_MOST = 20


@staff_only(Right.VIEW_CUSTOMERS, Right.CHANGE_CUSTOMERS, Right.DELETE_CUSTOMERS, Right.VIEW_NUMBERS)
@require_http_methods(["GET", "POST"])
def customer_merge(request: StaffRequest, pk: int) -> HttpResponse:
    """Find the other customer (`?q=`); show the effect on both (`?other=`); then merge them."""
    customer = get_object_or_404(Customer, pk=pk)
    text, chosen = without_marks(request.GET.get("q", "")).strip()[:120], request.GET.get("other", "")
    if not chosen:
        others = Customer.objects.matching(text) if text else _alike(customer)
        shown = others.exclude(pk=pk).with_counts()[:_MOST]
        return render(request, "drawers/merge_choose.html", {"customer": customer, "text": text, "others": shown})
    key = typed_key(chosen)
    if key in {None, pk}:
        raise Http404
    other = get_object_or_404(Customer, pk=key)
    form = MergeForm(request.POST if request.method == "POST" else None, one=customer, other=other)
    if request.method == "POST" and form.is_valid():
        try:
            with refusal_shown(request):
                kept = merge_customers(customer, other, actor=request.user, **form.cleaned_data)
                messages.success(request, _("Merged."), extra_tags="customers_merged")
                return redirect(kept)
        except Customer.DoesNotExist:  # a colleague was faster, or this is the second press
            return _who_stayed(request, pk, other.pk)
    both = Customer.objects.with_counts().filter(pk__in=[pk, other.pk])
    return render(request, "drawers/merge.html", {"customer": customer, "form": form, "both": both})


def _who_stayed(request: StaffRequest, *both: int) -> HttpResponse:
    """The page of the first of both who is still there, else of the customer who both have become."""
    keys = [*both, *where_merged(both).values()]
    rows = Customer.objects.in_bulk(keys)
    stayed = next((rows[key] for key in keys if key in rows), None)
    if stayed is None:
        raise Http404
    messages.error(request, _("One of the two was merged or deleted before."), extra_tags="merged_before")
    return redirect(stayed)


def _alike(customer: Customer) -> CustomerQuerySet:
    """Customers with a number of this one, or with the longest word of the name."""
    sharing = Customer.objects.filter(numbers__destination__in=customer.numbers.values("destination"))
    named = Customer.objects.named(max(customer.name.split(), key=len))
    return Customer.objects.filter(found_by(sharing, named))

"""The app on a phone's home screen: its manifest, and the page that its worker shows without a connection.

The worker itself is a file, `static/root/offline-worker.js`. Neither it nor these answers hold anything of the shop's
but its name, so they need no sign-in.
"""

import json

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language, gettext as _
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from shop.services import shop_name

# As in static/css/app.css: the ground and the surface of the light look, which is shown while the app starts.
_GROUND, _SURFACE = "#f5f6f4", "#ffffff"
# A phone shows this many letters below an icon.
_SHORT = 12


@require_safe
@cache_control(max_age=3600)
@vary_on_headers("Accept-Language", "Cookie")
def manifest(_request: HttpRequest) -> HttpResponse:
    """Name, icons and first page of the app, in the browser's language. Browsers fetch it without cookies."""
    name = shop_name()
    facts = {
        "id": "/",
        "name": name,
        "short_name": name if len(name) <= _SHORT else _("Shop"),
        "description": _("Sell phone credit, data and tokens, and pay bills."),
        "lang": get_language(),
        "start_url": reverse("overview"),
        "scope": "/",
        "display": "standalone",
        "background_color": _GROUND,
        "theme_color": _SURFACE,
        "icons": [
            _icon("icon-192.png", "192x192", "any"),
            _icon("icon-512.png", "512x512", "any"),
            _icon("icon-maskable-512.png", "512x512", "maskable"),
        ],
        "shortcuts": [
            {"name": _("Counter"), "url": reverse("counter")},
            {"name": _("Track"), "url": reverse("arrived")},
            {"name": _("Orders"), "url": reverse("order_list")},
        ],
    }
    return HttpResponse(json.dumps(facts), content_type="application/manifest+json")


def _icon(file: str, sizes: str, purpose: str) -> dict[str, str]:
    return {"src": static(f"img/{file}"), "sizes": sizes, "type": "image/png", "purpose": purpose}


@require_safe
@cache_control(no_store=True)
def offline(request: HttpRequest) -> HttpResponse:
    """The page without a connection, in both languages: a browser that keeps it does not know who will read it."""
    return render(request, "backoffice/offline.html", {"codes": [code for code, _name in settings.LANGUAGES]})

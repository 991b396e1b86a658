"""The WSGI entry point, served by `backoffice.web`."""

import os
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")


class Request(WSGIRequest):
    """A request whose unreadable Content-Type counts as none: Django fails on it before any middleware."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # the stubs leave it out
        except ValueError:
            self.content_type, self.content_params = "", {}


application = get_wsgi_application()
application.request_class = Request

"""WSGI application of the sandbox. `manage.py run_sandbox` serves it with a server that can cut connections."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
application = get_wsgi_application()

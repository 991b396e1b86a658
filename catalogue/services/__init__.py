"""The catalogue: fetched, kept, searched."""

from catalogue.services.finding import find_product
from catalogue.services.health import Health, note_health
from catalogue.services.searching import Found, busy_categories, note_bought, read_products, search_products
from catalogue.services.sync import request_catalogue_sync, sync_catalogue

"""The catalogue: fetched, kept, searched."""

from catalogue.services.finding import find_product
from catalogue.services.searching import best_first, busy_categories, note_bought
from catalogue.services.sync import request_catalogue_sync, sync_catalogue

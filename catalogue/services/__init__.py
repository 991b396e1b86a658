"""The catalogue: fetched, kept, searched."""

from catalogue.services.acts import ask_for_rule
from catalogue.services.changing import change_rule, refuse_rule
from catalogue.services.effects import preview, sums_of_sold
from catalogue.services.health import Health, note_health
from catalogue.services.kinds import correct_kind, read_category_kinds
from catalogue.services.rules import (
    active_rules,
    holding_words,
    narrower_targets,
    own_rules,
    rules_above,
    sold_at_cost,
    sold_below_cost,
)
from catalogue.services.searching import Found, find_product, knows_words, note_bought, read_products, search_products
from catalogue.services.sync import request_catalogue_sync, sync_catalogue
from catalogue.services.targets import Target, by_what_sells, in_several_categories, name_of_all
from catalogue.services.terms import Terms, own_words

"""The services of the shop's row."""

from shop.services.changing import TEXTS, adopt_name, change_shop, close_first_steps, store_logo
from shop.services.reading import current_shop, shop_name, shop_of, shop_question, shop_version

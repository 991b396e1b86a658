"""The page of earnings for a year, from the daily sums that ten million orders make."""

import datetime as dt
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.servers import shop

_DAYS, _PRODUCTS, _CASHIERS, _ROUNDS = 730, 450, 20, 7
_FILL = """
    INSERT INTO earnings_summedday (day, summed_at, off_by)
    SELECT current_date - n, now(), 0 FROM generate_series(1, %(days)s) n;
    INSERT INTO earnings_daysum
        (day_id, by, product_id, seller_id, method, buyer, placed, sold, failed, reversed, sales, cost, seconds)
    SELECT s.day, k.by, k.product, k.seller, k.method, k.buyer, k.n, k.n - 5, 5, 0, k.n * 12000, k.n * 10500, k.n * 8
    FROM earnings_summedday s, (
        SELECT 'product' AS by, id AS product, NULL::bigint AS seller, '' AS method, NULL::int AS buyer, 61 AS n
          FROM catalogue_product
        UNION ALL SELECT 'person', NULL, id, '', NULL, 1300 FROM staff_user
        UNION ALL SELECT 'method', NULL, NULL, unnest(ARRAY['cash', 'qris', 'transfer']), NULL, 9100
        UNION ALL SELECT 'buyer', NULL, NULL, '', generate_series(1, 340), 80
    ) k;
"""


def main() -> None:
    """Fill two years, compare one with the other by each key, print a table."""
    with shop():
        from django.db import connection
        from django.utils import timezone

        from earnings.models import DaySum
        from earnings.presenting import BY
        from purchases.models import Order
        from testing.factories import make_order, make_product
        from testing.people import browser_of, make_person

        for number in range(_PRODUCTS):
            make_product(code=f"P{number}", brand=f"brand{number % 30}")
        for number in range(_CASHIERS):
            make_person("cashier", username=f"cashier{number}")
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute(_FILL, {"days": _DAYS})
            cursor.execute("UPDATE catalogue_brand SET name = code")
            cursor.execute("VACUUM ANALYZE earnings_daysum")
        browser = browser_of("admin")
        make_order()
        last = timezone.localdate() - dt.timedelta(days=1)
        days = {"since": str(last - dt.timedelta(days=364)), "until": str(last)}
        print(f"{DaySum.objects.count()} sums, {Order.objects.count()} order\n")
        print("| a year against the year before, by | median ms |\n|---|---|")
        for by in BY:
            times = []
            for _round in range(_ROUNDS):
                began = time.perf_counter()
                assert browser.get("/earnings/", {**days, "by": by}).status_code == 200
                times.append(1000 * (time.perf_counter() - began))
            print(f"| {by} | {statistics.median(times):.0f} |")


if __name__ == "__main__":
    main()

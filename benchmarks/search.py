"""How long a search takes among many products: `python -m benchmarks.search [products]`. No database, one process;
the settings are those of `checks/production.env` (`set -a; . checks/production.env` before).

Prints CPU time, the best of ten, in milliseconds, and what reading a changed catalogue costs once.
"""

import sys
import time

import django

TYPED = ["10", "3", "tel 10", "tsel 10", "pulsa", "t", "telkomsl 10", "zzzz", "pdam surabya", "data 3 30", "10rb", ""]


def main(many: int) -> None:
    """Index so many products, made of the sandbox's, and search them."""
    django.setup()
    from catalogue.services.index import Index, Row, describe
    from catalogue.services.searching import search_index
    from sandbox.catalogue_tables import CATEGORIES
    from sandbox.offers import offers

    kinds = {code: (kind, name) for code, name, kind in CATEGORIES}
    offered = offers()
    began = time.process_time()
    rows = []
    for at in range(many):
        offer, copy = offered[at % len(offered)], at // len(offered)
        kind, category = kinds[offer.category]
        name = f"{offer.name} no{copy}x" if copy else offer.name
        names = (f"{offer.code}V{copy}", name, kind, offer.brand.lower(), offer.brand, offer.category, category)
        rows.append(Row(at, 0, 0, describe(names, offer.price)))
    index = Index(rows)
    print(f"{many} products read in {(time.process_time() - began) * 1000:.0f} ms")
    for text in TYPED:
        best = float("inf")
        for _ in range(10):
            began = time.process_time()
            matches = search_index(index, text)
            best = min(best, time.process_time() - began)
        print(f"{text!r:16} {len(matches.keys):>6} found in {best * 1000:5.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)

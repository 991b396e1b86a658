"""A till with a receipt printer of its own, and the jobs that its pages send to the printer."""

import json
import re

from tests.tills.helpers import give_printer, take_over, till_browser, with_pin
from tills.models import Till


def cashier_at_a_till(**printer):
    browser = till_browser()
    give_printer(Till.objects.get(), **printer)
    take_over(browser, with_pin())
    return browser


def job_of(answer):
    """The print job of a page; None if the browser prints."""
    found = re.search(r'<script id="print-job" type="application/json">(.*?)</script>', answer.content.decode())
    return json.loads(found[1]) if found else None


def words_of(job) -> list[str]:
    """All words of the job's lines, in order."""
    texts = [
        line["text"] if line["kind"] == "text" else f"{line['label']} {line['value']}"
        for line in job["lines"]
        if line["kind"] in {"text", "pair"}
    ]
    return " ".join(texts).split()

"""What the pages of orders show in a test."""

import re
from typing import Any


def listed(answer: Any) -> list[str]:
    """The ref_ids of the rows, in order."""
    return re.findall(r'class="row-link" href="/orders/([^/]+)/"', answer.content.decode())

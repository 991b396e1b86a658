"""`./run manage make_break_glass`: a new envelope for the emergency account."""

import json
from typing import Any

from core.commands import PlainCommand
from staff.models import BREAK_GLASS
from staff.services.break_glass import make_break_glass


class Command(PlainCommand):
    """Prints password and codes once; nobody can read them again."""

    help = "Make the emergency account, or a new password and new codes for it: print, seal, and keep it locked away."
    json_help = "Print one JSON object."

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit 0 with the password and the codes; an older envelope opens nothing any more."""
        password, codes = make_break_glass()
        if options["json"]:
            self.stdout.write(json.dumps({"name": BREAK_GLASS, "password": password, "codes": codes}))
            return
        lines = [f"User name  {BREAK_GLASS}", f"Password   {password}", "", "Recovery codes, each good once:", *codes]
        self.stdout.write("\n".join(lines))
        self.stderr.write("Print this, seal it, and keep it where two people are needed. It is not shown again.")

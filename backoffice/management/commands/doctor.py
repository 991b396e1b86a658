"""`./run doctor`: one page about the state of the installation, and what to do."""

import dataclasses
import json
from typing import Any

from django.core.management.base import CommandError

from backoffice.doctor import examine
from core.commands import PlainCommand

_SIGNS = {"ok": "ok  ", "provisional": "open", "look": "look", "bad": "BAD "}


class Command(PlainCommand):
    """Examine everything that the shop needs to run. Exit code 1 when something is bad."""

    help = "Look at settings, stores, processes, upstream, clock, disk, callbacks, books and backups."
    json_help = "Print one JSON list."
    requires_system_checks: list[str] = []  # its own first finding

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each finding when it is made."""
        findings = []
        for finding in examine():
            findings.append(finding)
            if not options["json"]:
                self.stdout.write(f"{_SIGNS[finding.verdict]}  {finding.subject:<16} {finding.seen}")
                if finding.advice:
                    self.stdout.write(f"{'':<22} → {finding.advice}")
        if options["json"]:
            self.stdout.write(json.dumps([dataclasses.asdict(finding) for finding in findings]))
        bad = sum(finding.verdict == "bad" for finding in findings)
        if bad:
            raise CommandError(f"{bad} of {len(findings)} findings are bad.")

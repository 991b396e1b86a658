"""The flaws that a verification can find."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Flaw:
    """A flaw of one row. `reason` is a word that programs may read: docs/audit.md lists them."""

    reason: str
    table: str = ""
    id: int | str | None = None
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        """Its known facts."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value not in ("", None)}

    def __str__(self) -> str:
        parts = (self.reason, self.table, "" if self.id is None else str(self.id), self.detail)
        return " ".join(part for part in parts if part)


@dataclass
class Verification:
    """The compared rows, and the flaws in the order of the tree: the first one is the oldest row's."""

    rows: int = 0
    checkpoints: int = 0
    outside: int = 0
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        return not self.flaws

    def as_json(self) -> dict[str, Any]:
        """The result as the command prints it."""
        facts = {"rows": self.rows, "checkpoints": self.checkpoints, "outside": self.outside}
        return {"sound": self.is_sound, **facts, "flaws": [flaw.as_json() for flaw in self.flaws]}

"""The launcher's words when it cannot go on."""

from pathlib import Path

from launcher.output import last_lines


class LaunchError(Exception):
    """One sentence that says what is wrong and what to do, with the log of the child it is about, if any."""

    def __init__(self, sentence: str, *, log: Path | None = None, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.log = log
        self.exit_code = exit_code

    def __str__(self) -> str:
        """The sentence, then the last lines of the child's log and where the whole of it is."""
        parts = [super().__str__()]
        if self.log and self.log.is_file():
            parts += [last_lines(self.log), f"    (whole log: {self.log})"]
        return "\n".join(parts)

"""What the launcher says when it cannot go on."""

from pathlib import Path

LINES_SHOWN = 15
START_MARK = "=== "


class LaunchError(Exception):
    """One sentence that says what is wrong and what to do, with the log of the child it is about, if any."""

    def __init__(self, sentence: str, *, log: Path | None = None, output: str = "", exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.log = log
        self.output = output
        self.exit_code = exit_code

    def __str__(self) -> str:
        """The sentence, then the last lines of the child's output and where its whole log is."""
        tail = last_lines(self.log) if self.log else "\n".join(self.output.splitlines()[-LINES_SHOWN:])
        parts = [self.sentence]
        if tail:
            parts.append(indented(tail))
        if self.log and self.log.is_file():
            parts.append(f"    (whole log: {self.log})")
        return "\n".join(parts)


def last_lines(log: Path, count: int = LINES_SHOWN) -> str:
    """The last `count` lines that a log holds since its last start mark; empty when there is no log."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 16_384))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if line.startswith(START_MARK)]
    return "\n".join(lines[starts[-1] + 1 if starts else 0 :][-count:])


def indented(text: str) -> str:
    """Each line four spaces in."""
    return "\n".join(f"    {line}" for line in text.splitlines())

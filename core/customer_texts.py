"""Plain texts that go to customers: written line by line, and opened in WhatsApp."""

from urllib.parse import quote

from core.bidi import visible


def one_line(text: str) -> str:
    """The text in one line: the words of an upstream or a biller make no line of their own."""
    return " ".join(text.split())


def plain_lines(written: str) -> str:
    """A template's text, without its indentation and empty lines."""
    return visible("\n".join(filter(None, map(one_line, written.splitlines()))))


def whatsapp_link(text: str, *, phone: str = "") -> str:
    """The address that opens WhatsApp with the text: to `phone` ("08…"), or to a contact that the person chooses."""
    number = f"62{phone[1:]}" if phone else ""
    return f"https://wa.me/{number}?text={quote(text, safe='')}"

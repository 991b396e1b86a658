"""The meaning of each subject of the page "Health" for the shop's owner, and what to do about it."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Plain:
    """A subject in words for people who are no technicians. `good`: when all is right; `trouble`: otherwise.

    `says_itself`: the finding's own words are plain already, and are shown beside these.
    """

    words: Any
    good: Any
    trouble: Any
    says_itself: bool = False


PLAIN = {
    "settings": Plain(
        _("Settings"),
        _("The shop is set up completely."),
        _("A setting is missing or unsafe. Ask the person who runs the server to correct it."),
    ),
    "database": Plain(
        _("Database"),
        _("Everything that is sold is stored."),
        _("Nothing can be stored, so nothing can be sold. Ask the person who runs the server at once."),
    ),
    "database role": Plain(
        _("Rights in the database"),
        _("The app can do with the shop's data what it has to, and no more."),
        _("The app's rights on the shop's data are not as they should be. Ask the person who runs the server."),
    ),
    "redis": Plain(
        "Redis",
        _("New orders are handed on at once."),
        _("Orders wait, and none is lost. Ask the person who runs the server to start Redis."),
    ),
    "processes": Plain(
        _("Processes"),
        _("Every part of the app runs."),
        _("A part of the app does not run: orders may wait, and none is lost. Ask the person who runs the server."),
    ),
    "background": Plain(
        _("Background work"),
        _("What the app does by itself is on time."),
        _("What the app does by itself is late, so results come later. Ask the person who runs the server."),
    ),
    "upstream": Plain(
        _("Provider"),
        _("The provider answers, and accepts the shop's account."),
        _("While it does not answer, orders wait, and none is lost. If it stays so, call the provider."),
        says_itself=True,
    ),
    "rate limit": Plain(
        _("Rate limit"),
        _("The provider allows so many requests in a while; the shop stays below it."),
        _("Nothing is sent to the provider now. Ask the person who runs the server to start Redis."),
        says_itself=True,
    ),
    "clock": Plain(
        _("Clock"),
        _("The clocks agree, so times on receipts are right."),
        _("The clocks differ, so times on pages and receipts may be wrong. Ask the person who runs the server."),
    ),
    "disk": Plain(
        _("Disk"),
        _("There is room for new sales."),
        _("Room is short; without room nothing can be sold. Ask the person who runs the server to make some."),
    ),
    "callbacks": Plain(
        _("Callbacks"),
        _("No report of the provider is missing."),
        _("The provider's own reports do not come. The app asks for results itself, so they come later."),
        says_itself=True,
    ),
    "books": Plain(
        _("Books"),
        _("The books and the provider's balance agree."),
        _("The books do not yet explain the provider's balance to the rupiah."),
        says_itself=True,
    ),
    "checkpoints": Plain(
        _("Checkpoints of the audit"),
        _("What proves the activity log is also kept outside the database."),
        _("What proves the activity log has not left the database. Ask the person who runs the server."),
    ),
    "backups": Plain(
        _("Backups"),
        _("If the disk breaks, the shop is restored from its copy."),
        _("If the disk breaks now, sales may be lost. Ask the person who runs the server for a backup."),
    ),
    "restored": Plain(
        _("Restored from a backup"),
        "",
        _("The shop stands as it was in a backup."),
        says_itself=True,
    ),
    "sealed secrets": Plain(
        _("Sealed secrets"),
        _("Stored keys, PINs and addresses can be read."),
        _("Some stored keys, PINs or addresses need an older key. Ask the person who runs the server."),
    ),
    "alert ways": Plain(
        _("Ways of alerts"),
        _("Alerts also reach people who are not looking at the pages."),
        _("Alerts are seen on the pages only. Add a way, such as Telegram, so that they reach you."),
    ),
    "versions": Plain(_("Versions"), _("What to name when you ask for help."), "", says_itself=True),
}

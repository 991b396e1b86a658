"""A hook of mkdocs.yml: the pages at the top of the project (README, CONTRIBUTING, …) become pages of the site.

A link works in the site as it does on a disk and on a code host: `docs/x.md` from the top, `../X.md` from docs/.
"""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
FOREIGN = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="?(?:https?:)?//[^ >]*')
log = logging.getLogger("mkdocs.hooks")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the top."""
    for path in sorted(ROOT.glob("*.md")):
        files.append(File.generated(config, path.name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_context: object) -> str:
    """Point each link to the place of its page in the site."""
    is_at_top = Path(page.file.abs_src_path or "").parent == ROOT
    return markdown.replace("](docs/" if is_at_top else "](../", "](")


def on_post_page(output: str, **_context: object) -> str:
    """Warn of what a page would load from another host; a warning fails the strict build."""
    for foreign in FOREIGN.findall(output):
        log.warning("A page loads something from another host: %s", foreign)
    return output

"""`scrapy genspider`: Scrapy's own, with the project's templates beside Scrapy's (TEMPLATES_DIR would replace them)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scrapy.commands.genspider import Command as GenspiderCommand

TEMPLATES: Final = Path(__file__).parent.parent / "templates" / "spiders"


class Command(GenspiderCommand):
    """`-t product` is a spider of the fleet; `-l` lists all templates."""

    def _find_template(self, template: str) -> Path | None:
        own = TEMPLATES / f"{template}.tmpl"
        return own if own.exists() else super()._find_template(template)

    def _list_templates(self) -> None:
        super()._list_templates()
        for template in sorted(TEMPLATES.glob("*.tmpl")):
            print(f"  {template.stem}")

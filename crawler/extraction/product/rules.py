"""Applies a domain's rules to a page: its fields, and whether it is complete."""

from __future__ import annotations

from typing import Any

from crawler.extraction.scripts import state
from crawler.extraction.tree.document import Document
from crawler.extraction.tree.nodetext import price_text, text_of
from crawler.policy.rules.domain_values import FieldRule
from crawler.policy.rules.domains import DomainRules


def raw_fields(document: Document, rules: DomainRules) -> dict[str, str]:
    """The raw value of each field found by the rules; the first rule of a field that matches counts."""
    found = {
        name: next((value for rule in choices if (value := _read(document, rule, name))), None)
        for name, choices in rules.fields.items()
    }
    return {name: value for name, value in found.items() if value}


def missing_required(document: Document, item: Any, rules: DomainRules) -> list[str]:
    """What the rules require and the page lacks: names of fields, and the CSS of elements.

    *item* was extracted from *document*, None if nothing was. If a known kind of page lacks something required, its
    layout has changed or it is a disguised block page.
    """
    missing = []
    for required in rules.required:
        if isinstance(required, str):
            if item is None or getattr(item, required, None) is None:
                missing.append(required)
        elif document.first(required.css) is None:
            missing.append(required.css)
    return missing


def _read(document: Document, rule: FieldRule, name: str) -> str | None:
    if rule.value is not None:
        return rule.value
    if rule.json is not None:
        found = (state.lookup(each, rule.json) for each in document.states)
        return next((text for value in found if value and (text := rule.part(value))), None)
    for node in document.tree.css(rule.css)[:100] if rule.css else ():
        if rule.attribute is not None:
            text = node.attributes.get(rule.attribute) or ""
        else:
            text = price_text(node) if name == "price" else text_of(node)
        if (text := rule.part(text)).strip():
            return text
    return None

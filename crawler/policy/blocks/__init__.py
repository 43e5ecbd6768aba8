"""Whether an answer is a page, or what a site shows in its place: a refusal, a test for robots, an empty shell. Pure.

    block = detect(status, headers, body, url)  # Block(vendor, kind), or None for a page
    is_shell(body)                              # whether scripts would still have to write the page

From the ground up: `page_text` and `page_shape` read a page without a tree; `signs`, `stems` and `vendors` hold what
`blocks.toml` lists; `read_page` is one page as it is read, `judged_page` what it says; `stubs`, `walls` and `leaning`
recognise pages by their scripts, by form and by many weak signs; `detection` decides.
"""

from crawler.policy.blocks.detection import DENIERS, Block, detect, told
from crawler.policy.blocks.shells import is_shell

__all__ = ["DENIERS", "Block", "detect", "is_shell", "told"]

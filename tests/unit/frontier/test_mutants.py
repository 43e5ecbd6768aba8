"""`make mutants` stops at a fault whose text is gone: every fault fits its script."""

from __future__ import annotations

import pytest

from tests.faults import FAULTS, Mutant
from tests.mutants import MUTANTS


@pytest.mark.parametrize("mutant", [*MUTANTS, *FAULTS], ids=lambda mutant: mutant.fault)
def test_the_text_of_each_fault_stands_in_its_script(mutant: Mutant) -> None:
    assert mutant.replaced()

"""`make mutants` stops at a fault whose text is gone: every fault fits its script."""

from __future__ import annotations

from tests.faults import FAULTS
from tests.mutants import MUTANTS


def test_the_text_of_each_fault_stands_in_its_script() -> None:
    assert all(mutant.replaced() for mutant in (*MUTANTS, *FAULTS)), "or it raises, and names the fault"

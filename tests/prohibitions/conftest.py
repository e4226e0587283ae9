"""Prints the table of broken rules after `make prohibitions`."""

import pytest
from tests.prohibitions.mutant_table import RULE_PROPERTY, mutant_table
from tests.prohibitions.other_rules import OTHER_RULES
from tests.prohibitions.prohibitions import PROHIBITIONS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table if mutants were run on purpose."""
    ran: dict[str, bool] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            ran |= {str(rule): outcome == "passed" for name, rule in report.user_properties if name == RULE_PROPERTY}
    if ran:
        terminalreporter.section("what must never happen")
        mutants = [mutant for mutant in (*PROHIBITIONS, *OTHER_RULES) if mutant.rule in ran]
        for line in mutant_table(mutants, {rule for rule, is_noticed in ran.items() if is_noticed}):
            terminalreporter.write_line(line)

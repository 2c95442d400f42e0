"""The caps over many hosts of one registrable domain."""

from __future__ import annotations

import pytest

from junkai.politeness import DomainBudget


def test_a_domain_has_at_most_its_turns_and_gets_one_back_when_one_ends() -> None:
    budget = DomainBudget(in_flight_max=2, per_second_max=20)
    started = [budget.start_turn("a.example") for _ in range(3)]
    other = budget.start_turn("b.example")
    budget.end_turn("a.example")

    assert started == [True, True, False]
    assert other is True
    assert budget.start_turn("a.example") is True


def test_any_second_holds_at_most_the_allowed_number_of_starts() -> None:
    budget = DomainBudget(in_flight_max=8, per_second_max=20)
    starts = [5.0 + budget.reserve_request("a.example", 5.0) for _ in range(100)]

    assert starts == sorted(starts)
    assert max(sum(start <= other < start + 0.999 for other in starts) for start in starts) == 20


def test_places_that_nobody_took_are_not_saved_up() -> None:
    budget = DomainBudget(in_flight_max=8, per_second_max=10)
    budget.reserve_request("a.example", 0.0)

    assert budget.reserve_request("a.example", 100.0) == 0
    assert budget.reserve_request("a.example", 100.0) == pytest.approx(0.1)


def test_turns_that_may_not_start_come_back_one_by_one_after_a_second() -> None:
    budget = DomainBudget(in_flight_max=2, per_second_max=20)
    away = [budget.postpone_turn("a.example", 5.0) for _ in range(4)]

    assert away == pytest.approx([1.0, 1.05, 1.1, 1.15])
    assert budget.postpone_turn("b.example", 5.0) == 1.0

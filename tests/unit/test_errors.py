"""The tree of errors is the one that is drawn, and an error is one line that names its subject."""

from __future__ import annotations

import pickle

import pytest

from junkai import errors
from junkai.errors import BlockedError, FailureKind, FetchError, JunkaiError, UrlError, UsageError


def tree(error: type[JunkaiError]) -> list[type[JunkaiError]]:
    return [error, *(inner for child in error.__subclasses__() for inner in tree(child))]


OURS = [error for error in tree(JunkaiError) if error.__module__ == errors.__name__]


def drawn() -> dict[str, str | None]:
    """Each error that the module's docstring draws, and the one above it."""
    above: dict[str, str | None] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").partition("::")[2].splitlines():
        name = line.strip("│├└─ ").split(" ")[0]
        if name.endswith("Error"):
            column = line.index(name)
            while path and path[-1][0] >= column:
                path.pop()
            above[name] = path[-1][1] if path else None
            path.append((column, name))
    return above


def test_the_drawn_tree_is_the_real_tree() -> None:
    real = {error.__name__: error.__base__.__name__ for error in OURS if error.__base__ is not None}

    assert real | {"JunkaiError": None} == drawn()


@pytest.mark.parametrize("error", OURS, ids=lambda error: error.__name__)
def test_the_docstring_of_an_error_is_its_default_message(error: type[JunkaiError]) -> None:
    made = FetchError("x", FailureKind.TLS) if error is FetchError else error("x")

    assert "__doc__" in vars(error)
    assert f"x: {error.__doc__}" == str(made)
    assert "\n" not in str(made)
    assert not str(made).endswith(".")


@pytest.mark.parametrize("error", OURS, ids=lambda error: error.__name__)
def test_a_detail_takes_the_place_of_the_default_message(error: type[JunkaiError]) -> None:
    made = FetchError("x", FailureKind.TLS, "why") if error is FetchError else error("x", "why")

    assert ("x: why", "x", "why") == (str(made), made.subject, made.detail)


def test_a_failed_exchange_says_how() -> None:
    assert FailureKind.DEADLINE is FetchError("x", FailureKind.DEADLINE).kind


def test_a_blocked_address_is_a_mistake_of_the_caller() -> None:
    assert isinstance(BlockedError("x"), UrlError | UsageError)
    assert issubclass(BlockedError, UsageError)


def test_an_error_survives_the_way_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(UrlError("x", "why")))

    assert (UrlError, "x: why") == (type(error), str(error))


def test_the_word_of_a_failure_is_its_name() -> None:
    assert [kind.name.lower() for kind in FailureKind] == [kind.value for kind in FailureKind]

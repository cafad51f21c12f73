import pytest

from tests.support.needs import Needs, require


def test_a_test_that_starts_a_server_without_its_marker_is_refused() -> None:
    with pytest.raises(AssertionError, match="needs the marker postgres"):
        require("postgres")


@pytest.mark.witness
def test_a_test_with_the_marker_may_start_it() -> None:
    require("witness")
    assert Needs.running is not None and Needs.running.name == "test_a_test_with_the_marker_may_start_it"


def test_the_marker_comes_with_the_fixture(request: pytest.FixtureRequest) -> None:
    item = request.node
    assert isinstance(item, pytest.Function) and item.get_closest_marker("postgres") is None
    item.fixturenames.append("postgres")
    Needs().pytest_collection_modifyitems([item])
    assert item.get_closest_marker("postgres") is not None

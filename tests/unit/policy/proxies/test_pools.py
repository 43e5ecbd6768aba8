"""Which proxy of a pool a request gets."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.proxies.health import State
from crawler.policy.proxies.pools import Choice, Endpoint, ProxyNeeds, ProxyPool, choose, session_id


def endpoint(name: str, country: str = "", username: str = "") -> Endpoint:
    return Endpoint(name, f"http://{name}", username, "secret", country)


def pool(size: int = 4) -> ProxyPool:
    return ProxyPool("homes", tuple(endpoint(f"p{number}:1") for number in range(size)))


def name(choice: Choice | None) -> str:
    assert choice is not None
    return choice.endpoint.name


POOLS = st.integers(1, 6).map(pool)
SICK = st.dictionaries(st.integers(0, 5).map("p{}:1".format), st.sampled_from((State.QUARANTINED, State.DUE)))
NEEDS = st.builds(
    ProxyNeeds, session=st.sampled_from(("", "a", "b")), tried=st.sets(st.integers(0, 5).map("p{}:1".format))
)


@given(POOLS, SICK, NEEDS, st.integers(0, 10**9))
def test_a_choice_is_usable_fresh_where_possible_and_a_probe_only_when_due(
    pool: ProxyPool, sick: dict[str, State], needs: ProxyNeeds, turn: int
) -> None:
    usable = {one.name for one in pool.endpoints if sick.get(one.name) is not State.QUARANTINED}
    choice = choose(pool, sick, needs, turn)
    assert (choice is None) == (not usable)
    if choice is not None:
        assert choice.endpoint.name in usable
        assert choice.endpoint.name not in needs.tried or usable <= set(needs.tried)
        assert choice.probe == (sick.get(choice.endpoint.name) is State.DUE)


def test_proxies_take_turns() -> None:
    used = Counter(name(choose(pool(), {}, ProxyNeeds(), turn)) for turn in range(40))
    assert used == dict.fromkeys(("p0:1", "p1:1", "p2:1", "p3:1"), 10)


def test_one_that_is_due_goes_first() -> None:
    assert name(choose(pool(), {"p2:1": State.DUE}, ProxyNeeds(), 0)) == "p2:1"


@given(st.text(min_size=1), st.integers(0, 5))
def test_a_session_stays_with_its_proxy_and_only_the_lost_ones_sessions_move(session: str, lost: int) -> None:
    whole, needs = pool(6), ProxyNeeds(session=session)
    kept = name(choose(whole, {}, needs, 0))
    assert {name(choose(whole, {}, needs, turn)) for turn in range(5)} == {kept}
    gone = f"p{lost}:1"
    moved = name(choose(whole, {gone: State.QUARANTINED}, needs, 0))
    assert (moved == kept) == (gone != kept)


def test_sessions_spread_over_the_pool() -> None:
    used = Counter(name(choose(pool(), {}, ProxyNeeds(session=str(number)), 0)) for number in range(400))
    assert min(used.values()) > 50


def test_a_country_is_where_a_proxy_stands_or_can_be_asked_to_be() -> None:
    mixed = ProxyPool(
        "homes", (endpoint("de:1", "de"), endpoint("se:1", "se"), endpoint("any:1", username="u-{country}"))
    )
    assert [one.name for one in mixed.serving("de")] == ["de:1", "any:1"]
    assert {name(choose(mixed, {}, ProxyNeeds("se"), turn)) for turn in range(6)} == {"se:1", "any:1"}
    assert choose(ProxyPool("homes", (endpoint("de:1", "de"),)), {}, ProxyNeeds("se"), 0) is None


def test_placeholders_are_filled_in_user_name_and_password() -> None:
    one = Endpoint("p:1", "http://p:1", "user-session-{session}-country-{country}", "key_{session}")
    assert one.credentials("abc", "de") == ("user-session-abc-country-de", "key_abc")
    assert "secret" not in repr(endpoint("p:1"))


def test_a_session_id_is_the_fleets_until_its_time_is_over_or_its_proxy_failed() -> None:
    timed = ProxyPool("homes", (), session_seconds=600)
    first = session_id(timed, ProxyNeeds(session="a"), now=1_000)
    assert first == session_id(timed, ProxyNeeds(session="a", tried=("x",)), now=1_199)
    others = [
        session_id(timed, ProxyNeeds(session="a"), now=1_200),
        session_id(timed, ProxyNeeds(session="a", salt=1), now=1_000),
        session_id(timed, ProxyNeeds(session="b"), now=1_000),
        session_id(timed, ProxyNeeds("de", session="a"), now=1_000),
    ]
    assert len({first, *others}) == 5
    assert session_id(pool(), ProxyNeeds(session="a"), 0) == session_id(pool(), ProxyNeeds(session="a"), 10**9)


def test_cost() -> None:
    assert ProxyPool("homes", (), cost_per_gb=4, cost_per_request=0.01).cost(10, 500_000_000) == 2.1

"""Clients whose rate budget is in the real Valkey, and the scripted upstream that they call."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.conf import settings

from tests.upstream.budget_steps import MOVE, Later, MakeBudget
from tests.upstream.scripted_upstream import MakeClient, MakeConfig, MakeUpstream, ScriptedUpstream
from upstream.budget import Budget
from upstream.client import Client
from upstream.config import Config, Rate
from upstream.endpoints import Limit


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    server = ScriptedUpstream()
    yield server
    server.stop()


@pytest.fixture
def scripted_upstream() -> Iterator[MakeUpstream]:
    """Make further scripted upstreams."""
    servers: list[ScriptedUpstream] = []

    def make(**options: Any) -> ScriptedUpstream:
        servers.append(ScriptedUpstream(**options))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def make_config() -> Iterator[MakeConfig]:
    """Make configurations, each of an account of its own; their keys in Redis are deleted afterwards."""
    made: list[Config] = []

    def make(base_url: str = "http://127.0.0.1:9", **options: Any) -> Config:
        wide = Rate(100_000, 60.0)
        defaults: dict[str, Any] = {
            "secret_id": f"account-{uuid.uuid4().hex}",
            "secret_key": "a-very-secret-key",
            "redis_url": settings.REDIS_URL,
            "connect_timeout": 2.0,
            "read_timeout": 5.0,
            "account_rate": wide,
            "ip_rate": wide,
            "products_rate": wide,
        }
        made.append(Config(base_url=base_url, **(defaults | options)))
        return made[-1]

    yield make
    with redis.Redis.from_url(settings.REDIS_URL) as connection:
        for config in made:
            for key in connection.scan_iter(f"*{config.account_hash}*"):
                connection.delete(key)


@pytest.fixture
def make_client(upstream: ScriptedUpstream, make_config: MakeConfig) -> MakeClient:
    """Make clients of the scripted upstream whose rate budget is open."""

    def make(**options: Any) -> Client:
        client = Client(make_config(**({"base_url": upstream.url} | options)))
        client.budget.declare_fresh()
        return client

    return make


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    return make_client()


@pytest.fixture
def make_budget(make_config: MakeConfig) -> MakeBudget:
    """Make open budgets; budgets with the same `secret_id` share one account, as processes do."""

    def make(account_rate: Rate, *, fresh: bool = True, **options: object) -> Budget:
        config = make_config(**({"account_rate": account_rate, "connect_timeout": 5.0, "read_timeout": 30.0} | options))
        budget = Budget(config)
        if fresh:
            budget.declare_fresh()
        return budget

    return make


@pytest.fixture
def valkey() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL)


@pytest.fixture
def later(valkey: redis.Redis) -> Later:
    """Let this many seconds pass for all of the budget's keys in Redis."""

    script = valkey.register_script(MOVE)

    def move(budget: Budget, seconds: float) -> None:
        script(keys=[key for limit in Limit for key in budget._keys(limit)], args=[-seconds * 1_000_000])

    return move

"""The settings of webhooks."""

from __future__ import annotations

import pytest

from crawler.errors import ConfigError
from crawler.extensions.run_hooks import HooksConfig
from tests.shipped import shipped


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RUN_WEBHOOK_URL", "ftp://me:s3cret@hooks.example/"),
        ("RUN_WEBHOOK_URL", "nonsense"),
        ("RUN_SIGNALS", "perhaps"),
        ("RUN_FAILURE_SHARE", 1.5),
        ("RUN_FAILURE_SHARE", -1),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: object) -> None:
    settings = shipped()
    settings.set(name, value, priority="cmdline")
    with pytest.raises(ConfigError, match=name) as refused:
        HooksConfig.from_settings(settings)
    assert "s3cret" not in str(refused.value)

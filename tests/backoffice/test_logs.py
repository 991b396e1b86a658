"""Log lines: key=value, or with LOG_FORMAT=json one object each, the last words of a process included."""

import json
import logging
import os
import subprocess
import sys

from backoffice.logs import logging_from
from backoffice.version import VERSION
from testing.sandbox_process import PROJECT


def line_of(record: logging.LogRecord, *, as_json: bool) -> str:
    config = logging_from(logging.INFO, as_json=as_json)
    formatter = logging.config.dictConfigClass(config).configure_formatter(config["formatters"]["line"])
    return formatter.format(record)


def test_each_line_names_the_version(monkeypatch):
    monkeypatch.setenv("PROCESS_NAME", "web-2")
    record = logging.makeLogRecord({"msg": "something %s", "args": ("happened",), "levelname": "INFO"})

    assert f"version={VERSION}" in line_of(record, as_json=False)
    facts = json.loads(line_of(record, as_json=True))
    assert (facts["event"], facts["version"], facts["process"]) == ("something happened", VERSION, "web-2")


def test_the_fault_that_ends_a_process_is_one_line():
    code = "import django; django.setup(); raise RuntimeError('at last')"
    environment = {**os.environ, "LOG_FORMAT": "json", "DJANGO_SETTINGS_MODULE": "backoffice.settings"}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )

    facts = json.loads(result.stderr.splitlines()[-1])
    assert facts["level"] == "critical"
    assert "RuntimeError: at last" in facts["exception"]

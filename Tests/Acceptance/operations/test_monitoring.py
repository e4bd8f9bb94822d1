"""Has a real node_exporter and a real Prometheus read metrics, and tries rules and dashboard of the examples there."""

import contextlib
import json
import math
import os
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

import peers
from products import REPOSITORY, maker, tool

EXAMPLES = REPOSITORY / "share/doc/urlcache-admin/examples"
RULES = str(EXAMPLES / "urlcache.rules.yml")
with_servers = peers.needed("prometheus", "prometheus-node-exporter")


@pytest.fixture
def dashboard():
    return json.loads((EXAMPLES / "dashboard.json").read_text())


def run(*words, status=0, **options):
    result = subprocess.run(words, capture_output=True, text=True, **options)
    assert result.returncode == status, result
    return result.stdout


@peers.needed("promtool")
def test_rules():
    """The rules pass promtool, as do their tests, in which each alert is given once at least."""
    run(peers.found("promtool"), "check", "rules", "--lint", "all", "--lint-fatal", RULES)
    run(peers.found("promtool"), "test", "rules", str(EXAMPLES / "urlcache.rules.test.yml"))
    tests = (EXAMPLES / "urlcache.rules.test.yml").read_text()
    given = re.findall(r"alertname: (\w+)\n *eval_time: .*\n *exp_alerts:\n", tests)
    with open(RULES) as file:
        assert set(re.findall(r"- alert: (\w+)", file.read())) == set(given), given


def test_model(dashboard):
    """Grafana's own data model has a place for everything in the dashboard, and the panels lie side by side."""
    for name in ["cog", "cog.encoder", "cog.plugins", "models.dashboard"]:
        pytest.importorskip("grafana_foundation_sdk." + name, reason="grafana_foundation_sdk: not here")
    from grafana_foundation_sdk.cog import encoder, plugins
    from grafana_foundation_sdk.models import dashboard as grafana
    plugins.register_default_plugins()
    kept = json.loads(json.dumps(grafana.Dashboard.from_json(dashboard), cls=encoder.JSONEncoder))

    def compare(ours, theirs, path):
        if isinstance(ours, dict):
            for key, value in ours.items():
                assert key in theirs, (path, key)
                compare(value, theirs[key], f"{path}/{key}")
        elif isinstance(ours, list):
            assert len(ours) == len(theirs), path
            for number, pair in enumerate(zip(ours, theirs)):
                compare(*pair, f"{path}/{number}")
        else:
            assert ours == theirs, (path, ours, theirs)

    compare(dashboard, kept, "")
    cells = [(x, y) for at in (panel["gridPos"] for panel in dashboard["panels"])
             for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


class Servers:
    """A cache over its capacity, one with findings, and one that does not exist; a run on each, and servers that read its metrics."""

    def __init__(self, root):
        self.root, self.metrics = root, os.path.join(root, "metrics")
        self.environment = os.environ | {"HOME": root, "URLCACHE_ADMIN_CONFIG": os.path.join(root, "config.toml")}
        with open(os.path.join(root, "config.toml"), "w") as file:
            for name, setting in [("shop", "capacity = '64KiB'\nmax-size = '1GiB'\nmax-entries = 80"),
                                  ("news", "capacity = '64MiB'\nmax-age = '200000d'"), ("lost", "max-entries = 1")]:
                file.write(f"[caches.{name}]\npath = '{root}/{name}'\n{setting}\n")
        run(maker, "--entries", "100", "--seed", "1", os.path.join(root, "shop"))
        run(maker, "--entries", "100", "--seed", "2", "--faults", "orphan-files,missing-bodies", os.path.join(root, "news"))
        os.mkdir(self.metrics)
        run(tool, "enforce", "--all-caches", "--yes", "--metrics-file", os.path.join(self.metrics, "urlcache.prom"), status=66,
            env=self.environment)

    def run(self):
        """Runs the servers until the block ends."""
        exporter, self.port = free_port(), free_port()
        with open(os.path.join(self.root, "prometheus.yml"), "w") as file:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [RULES],
                       "scrape_configs": [{"job_name": "node", "static_configs": [
                           {"targets": [f"127.0.0.1:{exporter}"], "labels": {"instance": "mac-1"}}]}]}, file)
        stack = contextlib.ExitStack()
        stack.enter_context(self.started(peers.found("prometheus-node-exporter"), "--collector.disable-defaults", "--collector.textfile",
                                         f"--collector.textfile.directory={self.metrics}", port=exporter))
        stack.enter_context(self.started(peers.found("prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data", port=self.port))
        return stack

    @contextlib.contextmanager
    def started(self, *words, port):
        """A server that runs until the block ends."""
        with open(os.path.join(self.root, os.path.basename(words[0]) + ".log"), "w+") as log:
            process = subprocess.Popen([*words, f"--web.listen-address=127.0.0.1:{port}"], cwd=self.root, stdout=log, stderr=log)
            try:
                wait(lambda: get(port, "/metrics"), process)
                yield
            finally:
                process.terminate()
                process.wait()

    def ask(self, name, **query):
        """The answer of the API of Prometheus."""
        answer = json.loads(get(self.port, "/api/v1/" + name, **query))
        assert answer["status"] == "success" and not answer.get("warnings"), answer
        return answer["data"]

    def values(self, expression):
        """The values of an expression now, by the labels that are ours."""
        return {tuple(sorted((key, label) for key, label in series["metric"].items() if key not in ("job", "instance"))):
                float(series["value"][1]) for series in self.ask("query", query=expression)["result"]}


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    servers = Servers(str(tmp_path_factory.mktemp("monitoring")))
    with servers.run():
        wait(lambda: servers.values("urlcache_last_run_success"))
        wait(lambda: servers.values("cache:urlcache_fill:ratio"))
        yield servers


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait(question, process=None):
    """The first answer that is one, which may take a while on a machine with other work."""
    for _ in range(3_000):
        assert process is None or process.poll() is None, process.args
        with contextlib.suppress(OSError):
            answer = question()
            if answer:
                return answer
        time.sleep(0.1)
    raise AssertionError("no answer after five minutes")


def get(port, path, **query):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
        return answer.read().decode()


@with_servers
def test_scrape(servers):
    """Each sample of the metrics arrives as it is, and node_exporter reports no mistake in the file."""
    ours = {}
    with open(os.path.join(servers.metrics, "urlcache.prom")) as file:
        lines = file.readlines()
    for line in lines:
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} ([0-9.]+)\n", line).groups()
            ours[tuple(sorted([("__name__", name), *re.findall(r'(\w+)="([^"]*)"', labels)]))] = float(value)
    theirs = servers.values('{__name__=~"urlcache_.*"}')
    assert ours == theirs and len(ours) > 30, (ours, theirs)
    assert servers.values("node_textfile_scrape_error") == {(("__name__", "node_textfile_scrape_error"),): 0}
    assert {series["metric"]["instance"] for series in servers.ask("query", query="urlcache_disk_bytes")["result"]} == {"mac-1"}


@with_servers
def test_alerts(servers):
    """Prometheus evaluates all rules, and the right alerts begin."""
    begun = [("UrlcacheFindings", "news", "pending"), ("UrlcacheOverLimit", "shop", "pending"),
             ("UrlcacheRunFailed", "lost", "pending"), ("UrlcacheUnreadable", "lost", "pending")]

    def alerts():
        rules = servers.ask("rules")["groups"][0]["rules"]
        assert all(rule["health"] != "err" for rule in rules), rules
        return sorted((rule["name"], alert["labels"].get("cache"), alert["state"])
                      for rule in rules for alert in rule.get("alerts", []))

    # The rules are evaluated one after the other.
    wait(lambda: len(alerts()) >= len(begun))
    time.sleep(2)
    assert alerts() == begun, alerts()
    assert all(rule["health"] == "ok" for rule in servers.ask("rules")["groups"][0]["rules"])
    ratio = servers.values("cache:urlcache_fill:ratio")
    for cache, capacity in [("shop", 64 << 10), ("news", 64 << 20)]:
        usage = json.loads(run(tool, "usage", "-c", cache, "--format", "json", env=servers.environment))
        key = (("__name__", "cache:urlcache_fill:ratio"), ("cache", cache))
        assert math.isclose(ratio.pop(key), usage["in_use_bytes"] / capacity), cache
    assert not ratio


@with_servers
def test_dashboard(servers, dashboard):
    """Each query of each panel has an answer, and the numbers at the top are right."""
    variables = {variable["name"]: variable["query"]["query"] for variable in dashboard["templating"]["list"]
                 if variable["type"] == "query"}
    found = {}
    for name, query in variables.items():
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query.replace("$instance", "mac-1")).groups()
        found[name] = servers.ask(f"label/{label}/values", **{"match[]": series})
    assert found == {"instance": ["mac-1"], "cache": ["lost", "news", "shop"]}, found
    numbers, queries = {}, 0
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$instance", "mac-1").replace("$cache", "lost|news|shop")
            assert "$" not in expression, expression
            if target.get("instant"):
                result = servers.ask("query", query=expression)["result"]
                points = [series["value"] for series in result]
            else:
                now = time.time()
                result = servers.ask("query_range", query=expression, start=now - 60, end=now, step=1)["result"]
                points = [point for series in result for point in series["values"]]
            assert points and all(math.isfinite(float(value)) for _, value in points), (panel["title"], result)
            for variable in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert all(variable in series["metric"] for series in result), (panel["title"], variable)
            if panel["type"] == "stat":
                (numbers[panel["title"]],) = [float(value) for _, value in points]
            queries += 1
    bytes = sum(servers.values("urlcache_disk_bytes").values())
    assert numbers == {"Caches": 3, "On disk": bytes, "Over their limit": 1, "Failed": 1, "Not run for a day": 0,
                       "Unreadable": 1}, numbers
    assert queries == 19, queries


@with_servers
def test_two_files(servers):
    """Of a cache in two files the first file counts, and only an error counter of node_exporter shows the conflict."""
    before = servers.values("urlcache_disk_bytes")
    with open(os.path.join(servers.metrics, "z.prom"), "w") as file:
        file.write("# HELP urlcache_disk_bytes Size of the cache on disk.\n# TYPE urlcache_disk_bytes gauge\n"
                   'urlcache_disk_bytes{cache="shop"} 1\n')
    try:
        wait(lambda: len(servers.values("node_textfile_mtime_seconds")) == 2
             and servers.values('promhttp_metric_handler_errors_total{cause="gathering"} > 0'))
        assert servers.values("urlcache_disk_bytes") == before
        assert list(servers.values("node_textfile_scrape_error").values()) == [0]
    finally:
        os.remove(file.name)
        wait(lambda: len(servers.values("node_textfile_mtime_seconds")) == 1)

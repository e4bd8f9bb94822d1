"""Has a real node_exporter and a real Prometheus read metrics, and tries rules and dashboard of the examples there.

    check_monitoring.py URLCACHE-ADMIN SAMPLE-CACHE EXAMPLES PEERS

PEERS is a folder with promtool, prometheus, prometheus-node-exporter and the Python package of Grafana's data
model. Prints a line for each part, and ends at the first difference.
"""

import contextlib, json, math, os, re, shutil, socket, subprocess, sys, tempfile, time
import urllib.parse, urllib.request

tool, maker, examples, peers = map(os.path.abspath, sys.argv[1:])
sys.dont_write_bytecode = True
sys.path.insert(0, peers)
from grafana_foundation_sdk.cog import encoder, plugins
from grafana_foundation_sdk.models import dashboard as grafana

root = tempfile.mkdtemp()
metrics = os.path.join(root, "metrics")
rules = os.path.join(examples, "urlcache.rules.yml")
promtool = os.path.join(peers, "promtool")
with open(os.path.join(examples, "dashboard.json")) as file:
    dashboard = json.load(file)


def run(*words, status=0):
    result = subprocess.run(words, capture_output=True, text=True,
                            env=os.environ | {"URLCACHE_ADMIN_CONFIG": os.path.join(root, "config.toml")})
    assert result.returncode == status, result
    return result.stdout


def check_rules():
    """The rules pass promtool, as do their tests, in which each alert is given once at least."""
    run(promtool, "check", "rules", "--lint", "all", "--lint-fatal", rules)
    run(promtool, "test", "rules", os.path.join(examples, "urlcache.rules.test.yml"))
    with open(rules) as file, open(os.path.join(examples, "urlcache.rules.test.yml")) as tests:
        given = re.findall(r"alertname: (\w+)\n *eval_time: .*\n *exp_alerts:\n", tests.read())
        assert set(re.findall(r"- alert: (\w+)", file.read())) == set(given), given
    print("rules: ok", flush=True)


def check_model():
    """Grafana's own data model has a place for all that the dashboard says, and the panels lie side by side."""
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
    print("dashboard's model: ok", flush=True)


def make_caches():
    """One cache over its capacity, one with findings, and one that is not there; and a run on each."""
    with open(os.path.join(root, "config.toml"), "w") as file:
        for name, setting in [("shop", "capacity = '64KiB'\nmax-size = '1GiB'\nmax-entries = 80"),
                              ("news", "capacity = '64MiB'\nmax-age = '200000d'"), ("lost", "max-entries = 1")]:
            file.write(f"[caches.{name}]\npath = '{root}/{name}'\n{setting}\n")
    run(maker, "--entries", "100", "--seed", "1", os.path.join(root, "shop"))
    run(maker, "--entries", "100", "--seed", "2", "--faults", "orphan-files,missing-bodies", os.path.join(root, "news"))
    os.mkdir(metrics)
    run(tool, "enforce", "--all-caches", "--yes", "--metrics-file", os.path.join(metrics, "urlcache.prom"), status=66)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def started(*words, port):
    """A server that runs until the block ends."""
    with open(os.path.join(root, os.path.basename(words[0]) + ".log"), "w+") as log:
        process = subprocess.Popen([*words, f"--web.listen-address=127.0.0.1:{port}"], cwd=root, stdout=log, stderr=log)
        try:
            wait(lambda: get(port, "/metrics"), process)
            yield
        finally:
            process.terminate()
            process.wait()


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


def ask(path, **query):
    """What the API of Prometheus answers."""
    answer = json.loads(get(prometheus_port, "/api/v1/" + path, **query))
    assert answer["status"] == "success" and not answer.get("warnings"), answer
    return answer["data"]


def values(expression):
    """The values of an expression now, by the labels that are ours."""
    return {tuple(sorted((key, label) for key, label in series["metric"].items() if key not in ("job", "instance"))):
            float(series["value"][1]) for series in ask("query", query=expression)["result"]}


def check_scrape():
    """Each sample of our file arrives as it is, and node_exporter has nothing to say against the file."""
    ours = {}
    for line in open(os.path.join(metrics, "urlcache.prom")):
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"(\w+)\{(.*)\} ([0-9.]+)\n", line).groups()
            ours[tuple(sorted([("__name__", name), *re.findall(r'(\w+)="([^"]*)"', labels)]))] = float(value)
    wait(lambda: values("urlcache_last_run_success"))
    theirs = values('{__name__=~"urlcache_.*"}')
    assert ours == theirs and len(ours) > 30, (ours, theirs)
    assert values("node_textfile_scrape_error") == {(("__name__", "node_textfile_scrape_error"),): 0}
    assert {series["metric"]["instance"] for series in ask("query", query="urlcache_disk_bytes")["result"]} == {"mac-1"}
    print("scrape: ok", flush=True)


def check_alerts():
    """Prometheus evaluates all rules, and those alerts begin that should."""
    wait(lambda: values("cache:urlcache_fill:ratio"))

    begun = [("UrlcacheFindings", "news", "pending"), ("UrlcacheOverLimit", "shop", "pending"),
             ("UrlcacheRunFailed", "lost", "pending"), ("UrlcacheUnreadable", "lost", "pending")]

    def alerts():
        rules = ask("rules")["groups"][0]["rules"]
        assert all(rule["health"] != "err" for rule in rules), rules
        return sorted((rule["name"], alert["labels"].get("cache"), alert["state"])
                      for rule in rules for alert in rule.get("alerts", []))

    # The rules are evaluated one after the other.
    wait(lambda: len(alerts()) >= len(begun))
    time.sleep(2)
    assert alerts() == begun, alerts()
    assert all(rule["health"] == "ok" for rule in ask("rules")["groups"][0]["rules"])
    ratio = values("cache:urlcache_fill:ratio")
    for cache, capacity in [("shop", 64 << 10), ("news", 64 << 20)]:
        usage = json.loads(run(tool, "usage", "-c", cache, "--format", "json"))
        key = (("__name__", "cache:urlcache_fill:ratio"), ("cache", cache))
        assert math.isclose(ratio.pop(key), usage["footprint"]["total_bytes"] / capacity), cache
    assert not ratio
    print("alerts: ok", flush=True)


def check_dashboard():
    """Each query of each panel has an answer, and the numbers at the top are right."""
    variables = {variable["name"]: variable["query"]["query"] for variable in dashboard["templating"]["list"]
                 if variable["type"] == "query"}
    found = {}
    for name, query in variables.items():
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query.replace("$instance", "mac-1")).groups()
        found[name] = ask(f"label/{label}/values", **{"match[]": series})
    assert found == {"instance": ["mac-1"], "cache": ["lost", "news", "shop"]}, found
    numbers, queries = {}, 0
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$instance", "mac-1").replace("$cache", "lost|news|shop")
            assert "$" not in expression, expression
            if target.get("instant"):
                result = ask("query", query=expression)["result"]
                points = [series["value"] for series in result]
            else:
                now = time.time()
                result = ask("query_range", query=expression, start=now - 60, end=now, step=1)["result"]
                points = [point for series in result for point in series["values"]]
            assert points and all(math.isfinite(float(value)) for _, value in points), (panel["title"], result)
            for variable in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert all(variable in series["metric"] for series in result), (panel["title"], variable)
            if panel["type"] == "stat":
                (numbers[panel["title"]],) = [float(value) for _, value in points]
            queries += 1
    bytes = sum(values("urlcache_disk_bytes").values())
    assert numbers == {"Caches": 3, "On disk": bytes, "Over their limit": 1, "Failed": 1, "Not run for a day": 0,
                       "Unreadable": 1}, numbers
    print(f"dashboard's queries: ok, {queries}", flush=True)


def check_conflict():
    """Of a cache in two files the first counts, and no metric of the collector tells of it."""
    before = values("urlcache_disk_bytes")
    with open(os.path.join(metrics, "z.prom"), "w") as file:
        file.write("# HELP urlcache_disk_bytes What the files of the cache take up.\n# TYPE urlcache_disk_bytes gauge\n"
                   'urlcache_disk_bytes{cache="shop"} 1\n')
    wait(lambda: len(values("node_textfile_mtime_seconds")) == 2
         and values('promhttp_metric_handler_errors_total{cause="gathering"} > 0'))
    assert values("urlcache_disk_bytes") == before
    assert list(values("node_textfile_scrape_error").values()) == [0]
    print("two files: the first counts", flush=True)


try:
    check_rules()
    check_model()
    make_caches()
    exporter_port, prometheus_port = free_port(), free_port()
    with open(os.path.join(root, "prometheus.yml"), "w") as file:
        json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [rules],
                   "scrape_configs": [{"job_name": "node", "static_configs": [
                       {"targets": [f"127.0.0.1:{exporter_port}"], "labels": {"instance": "mac-1"}}]}]}, file)
    with started(os.path.join(peers, "prometheus-node-exporter"), "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={metrics}", port=exporter_port), \
         started(os.path.join(peers, "prometheus"), "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                 port=prometheus_port):
        check_scrape()
        check_alerts()
        check_dashboard()
        check_conflict()
finally:
    shutil.rmtree(root)

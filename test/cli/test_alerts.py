"""Alerts and dashboard: they ask for what there is, and each alert is explained."""

import json
import re
import shutil
import subprocess

import yaml

from harness import DEADLINE, DEPLOY, ROOT, until
from metrics import MetricsCase

RULES = DEPLOY / "prometheus" / "redlock.rules.yml"
DASHBOARD = DEPLOY / "grafana" / "redlock.json"
# Labels that Prometheus adds.
OF_PROMETHEUS = {"instance", "job"}


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


class Deployed(MetricsCase):
    """Rules and dashboard ask for what is printed, and for nothing else."""

    def setUp(self):
        super().setUp()
        process = self.run_held("--label", "left")
        until(lambda: self.value("redlock_held") == 1, "it is held, in the file")
        samples = [sample for family in self.families().values() for sample in family.samples]
        self.let_end(process, 1)
        samples += [sample for family in self.families().values() for sample in family.samples]
        self.names = {name for name, _ in samples}
        self.label_names = {name for _, labels in samples for name, _ in labels}
        self.ends = {dict(labels)["le"] for _, labels in samples if "le" in dict(labels)}

    def check_query(self, query):
        bare = re.sub(r'"[^"]*"', '""', query)
        asked = set(re.findall(r"\bredlock_\w+", bare))
        self.assertTrue(asked, query)
        self.assertEqual(asked - self.names, set(), query)
        self.assertEqual(bare.count("("), bare.count(")"), query)
        grouped = re.findall(r"\b(?:by|without|on) \(([^)]*)\)", bare)
        matched = re.findall(r"(\w+) *(?:=~|!~|!=|=(?!=)) *\"", bare)
        labels = {label.strip() for labels in grouped for label in labels.split(",")} | set(matched)
        self.assertEqual(labels - self.label_names - OF_PROMETHEUS, set(), query)
        self.assertEqual(set(re.findall(r'\ble="([^"]*)"', query)) - self.ends, set(), query)

    def test_the_check_is_one(self):
        for query in ("redlock_helds > 0", "sum by (mastr) (redlock_master_up)", "redlock_held{host=\"\"}",
                      "redlock_hold_seconds_bucket{le=\"0.5\"}", "sum(redlock_held", "redlock_hold_seconds"):
            self.assertRaises(AssertionError, self.check_query, query)

    def test_rules(self):
        self.assertGreater(len(rules()), 10)
        for rule in rules():
            with self.subTest(alert=rule["alert"]):
                self.assertEqual(set(rule) - {"for"}, {"alert", "expr", "labels", "annotations"})
                self.assertIn(rule["labels"]["severity"], ("warning", "critical"))
                self.check_query(rule["expr"])
                asked = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["description"]))
                self.assertEqual(asked - self.label_names - OF_PROMETHEUS, set())
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "action"})

    def test_rules_as_prometheus_reads_them(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool (package prometheus) is not there")
        done = subprocess.run(["promtool", "check", "rules", RULES], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_each_section_that_an_action_names_exists(self):
        text = (ROOT / "doc" / "operating.md").read_text()
        sections = set(re.findall(r"(?m)^#+ (.*)$", text))
        named = {name for rule in rules() for name in re.findall(r'"([^"]+)"', rule["annotations"]["action"])}
        self.assertGreater(len(named), 4)
        self.assertEqual(named - sections, set())

    def test_dashboard(self):
        dashboard = json.loads(DASHBOARD.read_text())
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        queries = [target["expr"] for panel in panels for target in panel["targets"]]
        self.assertGreater(len(queries), 20)
        for query in queries:
            with self.subTest(query=query):
                self.check_query(query.replace("$__rate_interval", "5m"))
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query":
                name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["definition"]).groups()
                self.assertIn(name, self.names)
                self.assertIn(label, self.label_names | OF_PROMETHEUS)

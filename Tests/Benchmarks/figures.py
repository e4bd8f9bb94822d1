"""Keeps the figures of one table as a file, and prints them.

    figures.py FILE TITLE RESULT...             each RESULT is what hyperfine exports after a round
    figures.py FILE TITLE --columns COLUMN...   reads a label and the numbers from each line of the standard input

The file has the date and the machine in its first line, the title in its second, the names of the columns in its third, and a
line for each row, with tabs in between. A cell is empty if nothing was measured. The columns are `what`, a label in Markdown,
and some of `entries`, `ms`, `s`, `processor_ms`, `peak_KiB` and `instructions`.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys


def output(*words):
    """What a program prints, or nothing if there is none."""
    try:
        return subprocess.run(words, capture_output=True, text=True).stdout
    except OSError:
        return ""


def machine():
    """The machine and the versions, on one line."""
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))
    sqlite = output("sqlite3", "--version").split(" ")[0]
    system = re.search(r'PRETTY_NAME="([^"]+)"', output("cat", "/etc/os-release"))
    processor = re.search(r"Model name:\s*(.+)", output("lscpu"))
    return ", ".join(
        [f"{os.cpu_count()} processors ({processor[1] if processor else platform.machine()})", system[1] if system else platform.platform()]
        + ([f"Swift {swift[1]}"] if swift else []) + ([f"SQLite {sqlite}"] if sqlite else []))


def grouped(text):
    """A text whose long numbers have commas, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", part) for part in parts)


class Table:
    """The figures of one table: rows of cells by the names of their columns."""

    def __init__(self, measured, title, columns, rows):
        self.measured, self.title, self.columns, self.rows = measured, title, columns, rows

    @classmethod
    def read(cls, path):
        with open(path, encoding="utf-8") as file:
            measured, title, columns, *lines = file.read().splitlines()
        columns = columns.split("\t")
        rows = [dict(zip(columns, line.split("\t"), strict=True)) for line in lines]
        return cls(measured.removeprefix("# "), title.removeprefix("# "), columns, rows)

    def write(self, path):
        lines = [f"# {self.measured}", f"# {self.title}", "\t".join(self.columns)]
        lines += ["\t".join(row[column] for column in self.columns) for row in self.rows]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def number(self, row, column):
        """The number in a cell, or `None`."""
        return float(row[column]) if row.get(column) else None

    def row(self, label):
        """The row with a label."""
        found = [row for row in self.rows if row["what"] == label]
        if len(found) != 1:
            raise SystemExit(f"'{self.title}' has {len(found)} rows {label}")
        return found[0]

    def print(self):
        print(self.title)
        for row in self.rows:
            cells = [f"{float(row[column]):12,.1f} {column}" for column in self.columns[1:] if row[column]]
            if row.get("ms"):
                cells.insert(1, f"{float(row['ms']) / float(self.rows[0]['ms']):7.2f}")
            print(" ", *cells, " " + row["what"])


def median(seconds):
    """The median of some times, in milliseconds."""
    return f"{statistics.median(seconds) * 1000:.1f}"


def main():
    path, title, source, *rest = sys.argv[1:]
    if source == "--columns":
        columns = ["what", *rest]
        rows = [dict(zip(columns, line.rstrip("\n").split("\t"), strict=True)) for line in sys.stdin]
    else:
        columns = ["what", "ms", "processor_ms"]
        rounds = [json.loads(pathlib.Path(path).read_text())["results"] for path in (source, *rest)]
        rows = [{"what": runs[0]["command"], "ms": median(run["median"] for run in runs),
                 "processor_ms": median(run["user"] + run["system"] for run in runs)} for runs in zip(*rounds, strict=True)]
    table = Table(f"{datetime.date.today()}; {machine()}", title, columns, rows)
    table.write(path)
    table.print()


if __name__ == "__main__":
    main()

"""Writes the page of the benchmarks and its pictures from the kept figures.

    page.py FIGURES PAGES     FIGURES is the folder of the figures, PAGES that of the page

The text is page.md, where `{{…}}` on a line of its own stands for:

    {{machines}}                   what the tables were measured on
    {{goals}}                      the table of the goals, from goals.tsv
    {{table NAME...}}              the figures NAME.tsv, as groups of one table
    {{growth}}                     the table of growth.tsv
    {{picture NAME: TITLE}}        NAME.svg and NAME-dark.svg, which are drawn

Figures that do not exist yet are left out.
"""
import csv
import os
import re
import sys

import draw_growth
import draw_peers
from figures import Table, grouped

HERE = os.path.dirname(os.path.abspath(__file__))
HEADS = {"ms": "ms", "processor_ms": "processor time, ms", "peak_KiB": "peak memory, MiB", "instructions": "instructions"}


def number(value):
    """A number with as many digits as mean something."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}" if value >= 10 else f"{value:.2g}"


class Page:
    """The page from one folder of figures."""

    def __init__(self, figures):
        self.figures = figures
        self.used = []

    def find(self, name):
        """The figures of a name, or `None`."""
        path = os.path.join(self.figures, f"{name}.tsv")
        if not os.path.exists(path):
            return None
        table = Table.read(path)
        self.used.append(table)
        return table

    def table(self, *names):
        tables = [table for table in map(self.find, names) if table]
        if not tables:
            return f"Not measured yet: {', '.join(f'`{name}`' for name in names)}."
        columns = [column for column in HEADS if any(column in table.columns and any(row[column] for row in table.rows) for table in tables)]
        has_ratios = any("ms" in table.columns and len(table.rows) > 1 for table in tables)
        heads = [grouped(tables[0].title)]
        for column in columns:
            heads += [HEADS[column], "ratio"] if column == "ms" and has_ratios else [HEADS[column]]
        lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        for table in tables:
            # A title says what the rows below it are about, unless that was said already.
            if table.title not in {other.title for other in tables[:tables.index(table)]} and table is not tables[0]:
                lines.append(f"| *{grouped(table.title)}* |" + " |" * (len(heads) - 1))
            lines += [self.line(table, row, columns, has_ratios) for row in table.rows]
        days = sorted({table.measured.split(";")[0] for table in tables})
        return "\n".join(lines + ["", f"*{' and '.join(days)}*"])

    def line(self, table, row, columns, has_ratios):
        cells = [grouped(row["what"]).replace("|", "\\|")]
        for column in columns:
            value = table.number(row, column)
            cells.append("" if value is None else number(value / 1024 if column == "peak_KiB" else value))
            if column == "ms" and has_ratios:
                first = table.number(table.rows[0], "ms")
                cells.append(f"{value / first:.2f}" if value is not None and len(table.rows) > 1 else "")
        return f"| {' | '.join(cells)} |"

    def growth(self):
        table = self.find("growth")
        commands = draw_growth.by_command(table)
        return "\n".join([*draw_growth.rows(commands, draw_growth.sizes_of(commands)), "", f"*{table.measured.split(';')[0]}*"])

    def goals(self):
        lines = ["| work | compared with | now | limit | measured |", "|---|---|---|---|---|"]
        with open(os.path.join(HERE, "goals.tsv"), encoding="utf-8", newline="") as file:
            for goal in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                lines.append(self.goal(goal))
        return "\n".join(lines)

    def goal(self, goal):
        table = next(filter(None, map(self.find, goal["tables"].split())), None)
        now, day = "not measured yet", ""
        limit, unit = float(goal["limit"]), goal["unit"]
        if table:
            value = table.number(table.row(goal["row"]), goal["column"])
            if goal["base"]:
                value /= table.number(table.row(goal["base"]), goal["column"])
            elif unit == "MiB":
                value /= 1024
            now = f"{value:.2f} ×" if unit == "×" else f"{number(value)} {unit}"
            # As it is shown: a ratio is not over its limit by less than can be seen.
            now = f"**{now}**" if round(value, 2) > limit else now
            day = table.measured.split(";")[0]
        return f"| {goal['work']} | {goal['peer']} | {now} | {limit:g} {unit} | {day} |"

    def machines(self):
        """Each machine with its days, after everything else is written."""
        days = {}
        for table in self.used:
            day, machine = table.measured.split("; ", 1)
            days.setdefault(machine, set()).add(day)
        return "\n".join(f"- {min(found)}{f' to {max(found)}' if len(found) > 1 else ''}: {machine}." for machine, found in sorted(days.items(), key=lambda item: min(item[1])))

    def picture(self, name, title):
        return (f'<picture><source media="(prefers-color-scheme: dark)" srcset="{name}-dark.svg">'
                f'<img src="{name}.svg" alt="{title}"></picture>')

    def write(self, template):
        """The text of the page."""
        def fill(match):
            kind, *words = match[1].split()
            if kind == "picture":
                return self.picture(words[0].rstrip(":"), " ".join(words[1:]))
            return getattr(self, kind)(*words)

        text = re.sub(r"(?m)^\{\{((?!machines).*)\}\}$", fill, template)
        return text.replace("{{machines}}", self.machines())


def main():
    figures, pages = sys.argv[1:]
    page = Page(figures)
    with open(os.path.join(HERE, "page.md"), encoding="utf-8") as file:
        text = page.write(file.read())
    pictures = {"growth": draw_growth.picture(page.find("growth")), "peers": draw_peers.picture(list(filter(None, map(page.find, draw_peers.NAMES))))}
    written = {"README.md": text}
    for name, themes in pictures.items():
        written |= {f"{name}.svg": themes["light"], f"{name}-dark.svg": themes["dark"]}
    for name, content in written.items():
        with open(os.path.join(pages, name), "w", encoding="utf-8") as file:
            file.write(content)


if __name__ == "__main__":
    main()

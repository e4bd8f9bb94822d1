"""Draws how time and memory grow with the number of entries, and makes a table of them. See page.py."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT, TOP, BOTTOM, LEFT = 1000, 590, 40, 44, 64
PANEL = 290

THEMES = {
    "light": {"text": "#1f2328", "grid": "#d1d9e0", "back": "#ffffff"},
    "dark": {"text": "#e6edf3", "grid": "#3d444d", "back": "#0d1117"},
}
# Distinct on light and on dark backgrounds, also for most people who see few colors.
COLORS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#999999"]
DASHES = ["", "6 3", "2 3", "10 3 2 3"]


def by_command(table):
    """Returns the seconds and MiB of each command by entries, in the order of the table."""
    commands = {}
    for row in table.rows:
        commands.setdefault(row["what"], {})[int(row["entries"])] = (float(row["s"]), int(row["peak_KiB"]) / 1024)
    return commands


def sizes_of(commands):
    """Returns all numbers of entries; some commands have no figures for the largest."""
    return sorted(set().union(*commands.values()))


def shown(seconds):
    return f"{seconds * 1000:,.0f} ms" if seconds < 10 else f"{seconds:,.1f} s"


def rows(commands, sizes):
    """Returns a table in Markdown: times and memory of each size, and the growth of time over the last step."""
    heads = [f"{size:,} entries" for size in sizes]
    yield "| command | " + " | ".join(heads) + " | time for ten times the entries | peak memory, MiB |"
    yield "|---" * (len(sizes) + 3) + "|"
    for name, found in commands.items():
        times = [shown(found[size][0]) if size in found else "–" for size in sizes]
        peaks = " / ".join(f"{found[size][1]:,.0f}" for size in sizes if size in found)
        yield f"| `{name}` | " + " | ".join(times) + f" | × {10 ** last_step(found):.1f} | {peaks} |"


def last_step(found):
    """Returns the power of the number of entries with which the time grows, between the two largest."""
    if len(found) < 2:
        return 1
    (fewer, (short, _)), (more, (long, _)) = sorted(found.items())[-2:]
    return math.log(long / short) / math.log(more / fewer)


class Panel:
    """A chart with logarithmic axes."""

    def __init__(self, left, title, sizes, values, unit):
        self.left, self.title, self.unit = left, title, unit
        self.sizes = sizes
        self.low = math.floor(math.log10(min(values)))
        self.high = math.ceil(math.log10(max(values)))

    def x(self, size):
        first, last = math.log10(self.sizes[0]), math.log10(self.sizes[-1])
        return self.left + (math.log10(size) - first) / max(last - first, 1e-9) * PANEL

    def y(self, value):
        share = (math.log10(value) - self.low) / max(self.high - self.low, 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def grid(self, theme):
        yield f'<text x="{self.left}" y="{TOP - 16}" font-weight="600">{self.title}</text>'
        for power in range(self.low, self.high + 1):
            y = self.y(10 ** power)
            yield f'<path d="M{self.left} {y:.1f}h{PANEL}" stroke="{theme["grid"]}"/>'
            yield f'<text x="{self.left - 8}" y="{y + 4:.1f}" text-anchor="end">{self.unit(10 ** power)}</text>'
        for size in self.sizes:
            x = self.x(size)
            yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="{theme["grid"]}"/>'
            yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{size:,}</text>'

    def line(self, points, color, dash):
        path = "L".join(f"{self.x(size):.1f} {self.y(value):.1f}" for size, value in points)
        yield f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>'


def time_unit(seconds):
    return f"{seconds * 1000:g} ms" if seconds < 1 else f"{seconds:g} s"


def picture(table):
    """Returns the SVG of both charts for each theme."""
    commands = by_command(table)
    return {name: drawing(commands, sizes_of(commands), theme) for name, theme in THEMES.items()}


def drawing(commands, sizes, theme):
    cells = [cell for found in commands.values() for cell in found.values()]
    panels = [
        Panel(LEFT, "time", sizes, [seconds for seconds, _ in cells], time_unit),
        Panel(LEFT + PANEL + 84, "peak memory", sizes, [peak for _, peak in cells], lambda mebibytes: f"{mebibytes:g} MiB"),
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{theme["text"]}" role="img">',
        "<title>Time and memory of commands by the number of entries</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{theme["back"]}"/>',
    ]
    for panel in panels:
        parts += panel.grid(theme)
    legend = LEFT + PANEL * 2 + 84 + 24
    for index, (name, found) in enumerate(commands.items()):
        color, dash = COLORS[index % len(COLORS)], DASHES[index // len(COLORS) % len(DASHES)]
        for panel, place in zip(panels, (0, 1)):
            parts += panel.line([(size, found[size][place]) for size in sizes if size in found], color, dash)
        y = TOP + 10 + index * 22
        parts.append(f'<path d="M{legend} {y - 4}h24" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"/>')
        parts.append(f'<text x="{legend + 30}" y="{y}">{escape(name)}</text>')
    return "\n".join(parts + ["</svg>", ""])

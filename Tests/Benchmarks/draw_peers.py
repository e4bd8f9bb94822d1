"""Draws the times of this program as multiples of the times of other programs. See page.py."""
import math
from xml.sax.saxutils import escape

from draw_growth import COLORS, THEMES
from figures import grouped

# The tables whose first row is another program.
NAMES = [
    "list-202", "list-203", "check", "check-full", "grep-literal", "grep-common", "grep-case", "grep-expression", "grep-digits",
    "archives-tar", "archives-zstd-1", "archives-pipe-1", "archives-zstd-2", "archives-pipe-2", "archives-unpack",
    "web-zip", "web-gzip", "web-import", "web-har", "web-list",
    "removals-oldest", "removals-urls", "enforce", "removals-files-200000", "remains", "removals-tenth", "removals-first", "removals-most",
]
WIDTH, TOP, ROW, LEFT, RIGHT = 1000, 44, 20, 470, 60
# Rows that are no work of this program.
OTHER = ("the same, and `sync -f`", "removal and `VACUUM` by `sqlite3`")


def groups(tables):
    """Returns the other program of each table, and the label and the ratio of each bar."""
    for table in tables:
        first, *others = table.rows
        bars = [(row["what"], table.number(row, "ms") / table.number(first, "ms")) for row in others if row["what"] not in OTHER]
        yield f"{first['what']} ({grouped(table.title)})", bars


def cut(text, length):
    """A text without the marks of code, which ends after `length` characters."""
    text = text.replace("`", "")
    return text if len(text) <= length else text[:length - 1] + "…"


def picture(tables):
    """Returns the SVG for each theme."""
    found = list(groups(tables))
    ratios = [ratio for _, bars in found for _, ratio in bars]
    low = min(-1, math.floor(math.log2(min(ratios))))
    high = max(1, math.ceil(math.log2(max(ratios))))
    return {name: drawing(found, low, high, theme) for name, theme in THEMES.items()}


def drawing(found, low, high, theme):
    lines = sum(1 + len(bars) for _, bars in found)
    height = TOP + ROW * lines + 16

    def x(ratio):
        return LEFT + (math.log2(ratio) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{theme["text"]}" role="img">',
        "<title>Time of this program as a multiple of the time of another program</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="{theme["back"]}"/>',
    ]
    for power in range(low, high + 1):
        place = x(2 ** power)
        parts.append(f'<path d="M{place:.1f} {TOP - 8}V{height - 12}" stroke="{theme["grid"]}"/>')
        parts.append(f'<text x="{place:.1f}" y="{TOP - 16}" text-anchor="middle">{2 ** power:g}</text>')
    y = TOP
    for peer, bars in found:
        # With the background behind it, because it is longer than the space beside the bars.
        parts.append(f'<text x="8" y="{y + 14}" font-weight="600" stroke="{theme["back"]}" stroke-width="4" paint-order="stroke">'
                     f'{escape(cut(peer, 130))}</text>')
        for label, ratio in bars:
            y += ROW
            start, end = sorted([x(1), x(ratio)])
            color = COLORS[0] if ratio <= 1 else COLORS[1]
            parts.append(f'<text x="24" y="{y + 13}">{escape(cut(label, 68))}</text>')
            parts.append(f'<rect x="{start:.1f}" y="{y + 3}" width="{max(end - start, 1):.1f}" height="{ROW - 7}" fill="{color}"/>')
            parts.append(f'<text x="{end + 6:.1f}" y="{y + 13}">{ratio:.2f}</text>')
        y += ROW
    parts.append(f'<path d="M{x(1):.1f} {TOP - 8}V{height - 12}" stroke="{theme["text"]}" stroke-width="1.5"/>')
    return "\n".join(parts + ["</svg>", ""])

"""Draws SVG charts: lines on two logarithmic axes, and bars of ratios with their targets."""

import math
import re
from html import escape

COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
STYLE = (
    "text{font:13px 'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:bold}"
    ".small{font-size:12px;fill:#57606a}.grid{stroke:#d8dee4;stroke-width:1}.axis{stroke:#57606a;stroke-width:1}"
)


class Canvas:
    def __init__(self, width, height, title):
        self.width, self.height, self.parts = width, height, []
        self.title = title

    def line(self, x1, y1, x2, y2, kind="grid"):
        self.parts.append(f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>')

    def text(self, x, y, text, anchor="start", kind=None, extra=""):
        shown = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text{shown} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>')

    def add(self, part):
        self.parts.append(part)

    def finish(self):
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img"><title>{escape(self.title)}</title><style>{STYLE}</style>'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>'
        )
        return "\n".join([head, *self.parts, "</svg>"]) + "\n"


def shown_number(value):
    """Returns a number as text: 1000 as 1,000, 0.5 as 0.5, 2e6 as 2M."""
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def decades(low, high):
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def lines(title, x_label, y_label, series):
    """Returns a line chart. [series]: {label: [(x, y), ...]}, all above zero. A dashed line shows slope one."""
    series = {label: [(x, y) for x, y in points if x > 0 and y > 0] for label, points in series.items()}
    points = [point for each in series.values() for point in each]
    if not points:
        raise ValueError(f"there is nothing to draw in '{title}'")
    width, height, left, right, top, bottom = 780, 420, 86, 232, 48, 58
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    if x_low == x_high:
        x_high = x_low * 10
    powers = decades(min(y for _, y in points), max(y for _, y in points))
    y_low, y_high = 10.0 ** powers[0], 10.0 ** max(powers[-1], powers[0] + 1)

    def place(x, y):
        across = math.log(x / x_low) / math.log(x_high / x_low)
        up = math.log(y / y_low) / math.log(y_high / y_low)
        return left + across * (width - left - right), height - bottom - up * (height - top - bottom)

    canvas = Canvas(width, height, title)
    canvas.text(left, 28, title, kind="title")
    for power in range(round(math.log10(y_low)), round(math.log10(y_high)) + 1):
        y = place(x_low, 10.0**power)[1]
        canvas.line(left, y, width - right, y)
        canvas.text(left - 8, y + 4, shown_number(10.0**power), "end")
    for x in sorted({x for x, _ in points}):
        if math.log(x_high / x_low) > math.log(300) and abs(math.log10(x) - round(math.log10(x))) > 1e-9:
            continue
        across = place(x, y_low)[0]
        canvas.line(across, top, across, height - bottom)
        canvas.text(across, height - bottom + 20, shown_number(x), "middle")
    canvas.line(left, height - bottom, width - right, height - bottom, "axis")
    canvas.line(left, top, left, height - bottom, "axis")
    canvas.text((left + width - right) / 2, height - 14, x_label, "middle")
    middle = (top + height - bottom) / 2
    canvas.text(20, middle, y_label, "middle", extra=f' transform="rotate(-90 20 {middle:.0f})"')

    # The line of linear growth, from the middle of the lower edge.
    reach = min(x_high / x_low, y_high / y_low)
    x1, y1 = place(x_low, y_low)
    x2, y2 = place(x_low * reach, y_low * reach)
    canvas.add(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#8c959f" stroke-dasharray="2 5"/>')

    # Labels are at the lines' ends, moved apart where they would overlap.
    ends = sorted((place(*each[-1])[1], label) for label, each in series.items() if each)
    heights = {}
    last = top - 16
    for y, label in ends:
        last = max(y + 4, last + 17)
        heights[label] = last
    over = max(0.0, last - (height - bottom + 4))
    for index, (label, each) in enumerate(series.items()):
        if not each:
            continue
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in each))
        canvas.add(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in (place(*point) for point in each):
            canvas.add(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>')
        x, y = place(*each[-1])
        canvas.add(
            f'<line x1="{x + 5:.1f}" y1="{y:.1f}" x2="{width - right + 14}" y2="{heights[label] - over - 4:.1f}" '
            f'stroke="{colour}" stroke-width="0.7"/>'
        )
        canvas.text(width - right + 18, heights[label] - over, label, extra=f' style="fill:{colour}"')
    canvas.text(width - right + 18, height - 14, "dotted: in proportion", kind="small")
    return canvas.finish()


def bars(title, note, rows):
    """Returns a bar chart. [rows]: (label, ratio, must, aim), where the targets may be None. Bars end at the ratio, on
    a logarithmic axis whose line at 1 is the peer."""
    if not rows:
        raise ValueError(f"there is nothing to draw in '{title}'")
    left, width, step, top = 360, 860, 22, 66
    height = top + step * len(rows) + 40
    values = [value for row in rows for value in row[1:] if value]
    powers = decades(min(values), max([*values, 1.0]))
    low, high = 10.0 ** powers[0], 10.0 ** powers[-1]
    # Cuts off a decade that is barely used.
    high = min(high, max([*values, 1.0]) * 1.6)
    # If all are 1, the axis would have no length.
    low = min(low, high / 10)

    def place(value):
        return left + math.log(value / low) / math.log(high / low) * (width - left - 70)

    canvas = Canvas(width, height, title)
    canvas.text(16, 28, title, kind="title")
    canvas.text(16, 47, note, kind="small")
    for power in powers:
        if 10.0**power > high:
            continue
        x = place(10.0**power)
        canvas.line(x, top - 8, x, height - 32, "axis" if power == 0 else "grid")
        canvas.text(x, height - 14, shown_number(10.0**power), "middle", "small")
    for index, (label, ratio, must, aim) in enumerate(rows):
        y = top + step * index
        is_missed = must is not None and ratio > must
        colour = "#d1242f" if is_missed else "#1f6feb"
        canvas.text(left - 10, y + 12, re.sub("`", "", label), "end")
        canvas.add(f'<rect x="{left}" y="{y + 2}" width="{max(place(ratio) - left, 1):.1f}" height="13" fill="{colour}"/>')
        ticks = [place(value) for value in (must, aim) if value]
        for value, dash in ((must, ""), (aim, ' stroke-dasharray="3 2"')):
            if value:
                x = place(value)
                canvas.add(f'<line x1="{x:.1f}" y1="{y - 1}" x2="{x:.1f}" y2="{y + 18}" stroke="#1f2328" stroke-width="2"{dash}/>')
        beside = max([place(ratio), *[tick for tick in ticks if abs(tick - place(ratio)) < 44]])
        canvas.text(beside + 6, y + 13, f"{ratio:.2g}", kind="small")
    return canvas.finish()

"""Tables as HTML, for notebooks."""

from html import escape

MOST_ELEMENTS = 1000  # larger tensors show no elements


def table(rows, titles=()):
    """A table of rows of text; everything is escaped."""
    head = "".join(f"<th>{escape(str(title))}</th>" for title in titles)
    text = f"<thead><tr>{head}</tr></thead>" if titles else ""
    cells = ("".join(f'<td style="text-align:left">{escape(str(cell))}</td>' for cell in row) for row in rows)
    return f"<table>{text}<tbody>{''.join(f'<tr>{row}</tr>' for row in cells)}</tbody></table>"


def code(text):
    """Text in a fixed font, line by line as it is."""
    return f"<pre>{escape(text)}</pre>"


def report(text):
    """The report of a handler: its columns, which are two spaces or more apart, as a table, other lines as they are."""
    import re
    parts, rows = [], []

    def finish():
        if len(rows) > 1:
            parts.append(table(rows[1:], rows[0]))
        elif rows:
            parts.append(code("  ".join(rows[0])))
        rows.clear()

    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 2 and (not rows or len(cells) <= len(rows[0])):
            rows.append(cells)
            continue
        finish()
        if line.strip():
            parts.append(code(line))
    finish()
    return "".join(parts)


def tensor(value):
    """Shape and dtype of a tensor, and the elements of a small one."""
    facts = [f"shape {tuple(value.shape)}", str(value.dtype), str(value.device)]
    if value.requires_grad:
        facts.append("requires_grad")
    text = f"<div>{escape(type(value).__name__)}: {escape(', '.join(facts))}</div>"
    if value.numel() > MOST_ELEMENTS or value.device.type == "meta":
        return text
    if value.dim() in (1, 2) and value.numel():
        rows = value.detach().tolist()
        return text + table([[_number(x) for x in row] for row in (rows if value.dim() == 2 else [rows])])
    return text + code(str(value))


def _number(x):
    return f"{x:.4g}" if isinstance(x, float) else str(x)


def operator(op):
    """The schemas of an operator, and its dispatch table where it is one overload."""
    from boxcar import _core
    if len(op.schemas) != 1:
        return f"<div>{escape(op.name)}</div>" + table([[schema] for schema in op.schemas], ["schema"])
    schema, site, gradient, rows, defaults, missing = _core._table(op, False)
    return (code(schema) + f"<div>defined at {escape(site)}<br>gradient: {escape(gradient)}</div>"
            + table([row + [""] * (len(rows[0]) - len(row)) for row in rows[1:]], rows[0])
            + f"<div>{defaults} keys have their default and {missing} are missing</div>")

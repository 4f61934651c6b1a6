"""Turns the headers' plain comments into comments that Doxygen reads.

`//` lines before a declaration become `///`, and those after a member become `///<`. A block followed by a blank line,
before anything is declared, describes the file. Text that is indented further is code, unless it continues a list.
Brackets in a text, as in [stack], mark an argument. Nothing else in a comment has a meaning to Doxygen: its special
characters are escaped.
"""

import re

WHOLE = re.compile(r"^(\s*)//(?: (.*))?$")
BEHIND = re.compile(r"^(\s*[^\s/#].*[;,}])(\s+)// (.*)$")
RULE = re.compile(r"^-{3,}|-{3,}$")
DECLARATION = re.compile(r"^\s*(namespace|class|struct|template|enum|inline|constexpr|#\s*define)\b")
# fmt's formatters are not part of the reference, and Doxygen cannot parse them.
FORMATTER = re.compile(r"^template <.*>\n(?:  requires .*\n)?struct fmt::formatter<(?:.|\n)*?^};$", re.MULTILINE)


def quoted(text):
    """Returns [text] escaped so that Doxygen shows it unchanged, except for `code` and [argument]."""
    parts = []
    for part in re.split(r"(`[^`]*`)", text):
        is_code = len(part) > 1 and part[0] == part[-1] == "`"
        part = part.strip("`") if is_code else part
        part = re.sub(r"[\\@&$#<>%\"]", lambda sign: "\\" + sign[0], part).replace("::", "\\::").replace("--", "\\--")
        parts.append(f"<code>{part}</code>" if is_code else re.sub(r"\[(\w+)\]", r"<em>\1</em>", part))
    return "".join(parts)


def comment(indent, texts, is_file):
    """Returns the lines of one block of comments; [texts] are its lines without slashes."""
    lines, in_code, in_list = (["@file"] if is_file else []), False, False
    for text in texts:
        in_list = text.startswith("- ") or (in_list and text.startswith("  "))
        is_code = text.startswith("  ") and not in_list
        if text and is_code != in_code:
            lines.append("@code{.cpp}" if is_code else "@endcode")
            in_code = is_code
        lines.append(text if in_code else quoted(text))
    if in_code:
        lines.append("@endcode")
    return [f"{indent}/// {line}".rstrip() for line in lines]


def filtered(lines):
    at, declared = 0, False
    while at < len(lines):
        found = WHOLE.match(lines[at])
        if found is None:
            behind = BEHIND.match(lines[at])
            yield f"{behind[1]}{behind[2]}///< {quoted(behind[3])}" if behind else lines[at]
            declared = declared or DECLARATION.match(lines[at]) is not None
            at += 1
            continue
        indent, texts = found[1], []
        while at < len(lines) and (found := WHOLE.match(lines[at])) is not None:
            texts.append(found[2] or "")
            at += 1
        is_apart = at == len(lines) or lines[at].strip() in ("", "}") or lines[at].startswith(("#include", "namespace"))
        if RULE.search(texts[0]) or (is_apart and declared):
            yield from (f"{indent}// {text}" for text in texts)
        else:
            yield from comment(indent, texts, is_apart)


def for_doxygen(header):
    """Returns the text of a header with comments that Doxygen reads."""
    return "\n".join(filtered(FORMATTER.sub("", header).split("\n")))

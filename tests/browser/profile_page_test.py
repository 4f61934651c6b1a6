#!/usr/bin/env python3
"""Opens the page of `boxcar profile --html` in a browser and uses it: `profile_page_test.py BOXCAR`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import Page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

SCRIPT = """
op mine::inner(Tensor x) -> Tensor { return relu(x @ x) }
op mine::outer(Tensor x, str s="</script><!--") -> Tensor { return mine::inner(mine::inner(x)) / 4 }
x = ones([4, 4])
for i in range(%d) { x = mine::outer(x) }
"""


def profile(boxcar, folder, calls, *options):
    script, page = folder / "script.ops", folder / "page.html"
    script.write_text(SCRIPT % calls)
    subprocess.run([boxcar, "profile", script, "--html", page, *options], check=True, capture_output=True)
    return page


def frames(page):
    return [frame.get_attribute("data-name") for frame in page.all("#flame .frame")]


def click_frame(page, name):
    page.run("[...document.querySelectorAll('#flame .frame')].find(f => f.dataset.name === arguments[0]).click()", name)


def test_flame_chart(page):
    names = frames(page)
    assert names[0] == "all calls", names
    assert names.count("mine::outer") == 1 and names.count("mine::inner") == 1, f"calls of one path are one bar: {names}"
    assert "aten::ones" in names, names
    assert names.index("script.ops:5") < names.index("mine::outer") < names.index("script.ops:3") < names.index("mine::inner"), \
        f"lines of the script lead to calls: {names}"
    click_frame(page, "mine::inner")
    zoomed = frames(page)
    assert "aten::ones" not in zoomed and "aten::relu" in zoomed, zoomed
    assert {"all calls", "mine::outer", "mine::inner"} <= set(zoomed), f"the way up stays: {zoomed}"
    widths = page.run("return [...document.querySelectorAll('#flame .frame')].filter(f => f.dataset.name === 'mine::inner')"
                      ".map(f => f.getBoundingClientRect().width / f.parentElement.getBoundingClientRect().width)")
    assert widths[0] > 0.98, widths
    page.one("#filter").send_keys("x", Keys.ESCAPE)
    assert frames(page) == zoomed, "in the field of the filter Escape does not go back"
    page.press(Keys.ESCAPE)
    assert frames(page) == names, "Escape goes back"
    click_frame(page, "mine::inner")
    click_frame(page, "all calls")
    assert frames(page) == names, "a click on the topmost bar shows all"


def test_table(page, calls):
    def column(number):
        return page.texts(f"#rows td:nth-child({number})")

    def click_header(title):
        next(button for button in page.all("#columns button") if button.text.startswith(title)).click()

    assert len(column(1)) >= 6, column(1)
    counts = dict(zip(column(1), column(8)))
    assert counts["mine::outer"] == f"{calls:,}" and counts["mine::inner"] == f"{2 * calls:,}", counts
    click_header("Name")
    assert column(1) == sorted(column(1)), column(1)
    click_header("Name")
    assert column(1) == sorted(column(1), reverse=True), column(1)
    click_header("Calls")
    numbers = [int(text.replace(",", "")) for text in column(8)]
    assert numbers == sorted(numbers, reverse=True), numbers
    page.one("#filter").send_keys("MINE")
    assert sorted(column(1)) == ["mine::inner", "mine::outer"], column(1)
    assert page.one("#matches").text == f"2 of {len(counts)}", page.one("#matches").text


def test_timeline(page):
    painted = "const c = document.getElementById('timeline'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;" \
              "let hash = 0; for (let i = 0; i < d.length; i += 4) hash = (hash * 31 + d[i] + d[i + 3]) | 0; return hash"
    whole = page.run(painted)
    assert whole != 0, "something is painted"
    canvas = page.one("#timeline")
    page.run("arguments[0].scrollIntoView()", canvas)
    page.run("arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -100, clientX: 300, clientY: 60, bubbles: true, cancelable: true}));"
             "drawTimeline()", canvas)
    assert page.run("return view.to - view.from < whole.to - whole.from"), "the wheel zooms in"
    assert page.run(painted) != whole
    page.run("arguments[0].dispatchEvent(new MouseEvent('dblclick'))", canvas)
    assert page.run("return view.to === whole.to && view.from === whole.from"), "a double click shows all"
    marks = page.run("const c = canvas.getContext('2d'), texts = [], fill = c.fillText; c.fillText = (text, x, y) => { if (y < AXIS) texts.push(text); };"
                     "view = {from: whole.to / 2, to: whole.to / 2 + 50}; drawTimeline(); delete c.fillText; show(whole.from, whole.to);"
                     "drawTimeline(); return texts")
    assert len(marks) > 3 and len(set(marks)) == len(marks), f"marks tell apart what is nanoseconds apart: {marks}"
    # The middle of the longest call.
    x, y = page.run("const t = threads[0]; let i = 0; for (let j = 0; j < t.size; ++j) if (t.calls[j*FIELDS+2] > t.calls[i*FIELDS+2]) i = j;"
                    "return [(t.calls[i*FIELDS+1] + t.calls[i*FIELDS+2] / 2) / whole.to * canvas.clientWidth, tops[0] + t.depths[i] * LANE + 5]")
    box = canvas.size
    ActionChains(page.driver).move_to_element_with_offset(canvas, *offset(page, box, x, y)).perform()
    tip = page.one("#tip")
    assert tip.is_displayed() and "kernel at " in tip.text, tip.text
    assert re.search(r"^script\.ops:\d( in mine::\w+)?: \S+ = |^script\.ops:\d( in mine::\w+)?: (op|for) ", tip.text, re.M), tip.text


def test_kinds_of_rows(page):
    def rows(kind):
        next(button for button in page.all("#by button") if button.text == kind).click()
        head = page.texts("#columns th")
        return [dict(zip(head, [cell.text for cell in row.find_elements("tag name", "td")])) for row in page.all("#rows tr")]

    page.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
    lines = {row["Line"]: row for row in rows("line")}
    assert any(line.endswith("script.ops:2") for line in lines), lines
    inner = next(row for line, row in lines.items() if line.endswith("script.ops:2"))
    assert inner["Function"] == "mine::inner" and inner["Source"].startswith("op mine::inner(Tensor x)"), inner
    assert inner["Calls"] == "200", f"two calls of `relu(x @ x)`, a hundred times: {inner}"
    outermost = next(row for line, row in lines.items() if line.endswith("script.ops:5"))
    assert float(outermost["Total %"].split()[0]) > float(inner["Total %"].split()[0]), (outermost, inner)
    functions = [row["Function"].split()[0] for row in rows("function")]
    assert functions[0].endswith("script.ops") and set(functions[1:]) == {"mine::outer", "mine::inner"}, functions
    shapes = [row for row in rows("shape") if row["Name"] == "mine::inner"]
    assert [row["Shapes"] for row in shapes] == ["[4, 4]"], shapes
    page.one("#filter").send_keys("relu(x @")
    assert [row["Function"] for row in rows("line")] == ["mine::inner"], "the filter looks at the source, too"
    page.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
    rows("operator")


def offset(page, box, x, y):
    """Converts a position: Selenium 4 counts from the middle of an element, which may be between pixels."""
    return int(x - box["width"] / 2), int(y - box["height"] / 2)


def test_many_calls(boxcar, folder):
    path = profile(boxcar, folder, 12_000)  # of nine operators each
    with Page(path) as page:
        calls = page.run("return threads[0].size")
        assert calls > 100_000, calls
        assert len(frames(page)) < 100, "the flame chart is by path, not by call"
        slowest = page.run("let slowest = 0; for (let i = 0; i < 5; ++i) { const start = performance.now(); show(i, whole.to - i);"
                           "drawTimeline(); slowest = Math.max(slowest, performance.now() - start); } return slowest")
        drawn = page.run("let n = 0; const c = document.getElementById('timeline').getContext('2d'); const fill = c.fillRect;"
                         "c.fillRect = (...a) => { ++n; fill.apply(c, a); }; drawTimeline(); delete c.fillRect; return n")
        assert 0 < drawn < 20_000, f"what lies on one pixel is painted once: {drawn}"
        print(f"{calls} calls: the time line is painted in {slowest:.0f} ms, with {drawn} boxes")


def main():
    boxcar = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Page(profile(boxcar, folder, 50)) as page:
            assert page.texts("#summary dt")[0] == "wall time", page.texts("#summary dt")
            test_flame_chart(page)
            test_timeline(page)
            test_table(page, 50)
            test_kinds_of_rows(page)
        with Page(profile(boxcar, folder, 5, "--by-function")) as page:
            assert page.one("#what").text == "Functions", "what the table on the terminal has is shown first"
        test_many_calls(boxcar, folder)


main()

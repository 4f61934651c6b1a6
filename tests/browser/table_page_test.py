#!/usr/bin/python3
"""Tests the page of `boxcar table --html` in a headless browser: table_page_test.py BOXCAR.

Skipped if there is no browser (browser.py).
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Page
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait
from selenium.webdriver.common.by import By

BOXCAR = ""


class TablePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        page = Path(cls.folder.name) / "table.html"
        subprocess.run([BOXCAR, "table", "--html", page], check=True)
        listed = subprocess.run([BOXCAR, "ops"], check=True, capture_output=True, text=True).stdout
        cls.operators = len(listed.splitlines())
        cls.page = Page(page, width=1600)
        cls.browser = cls.page.driver

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def setUp(self):
        self.browser.get(self.page.url)

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [])

    def find(self, selector):
        return self.page.one(selector)

    def rows(self):
        script = "return [...document.querySelectorAll('tbody tr')].filter(row => row.offsetHeight).map(row => row.cells[0].textContent)"
        return self.browser.execute_script(script)

    def keys(self):
        return self.browser.execute_script("return [...document.querySelectorAll('thead th')].slice(1).map(cell => cell.textContent)")

    def cell(self, operator, key):
        row = self.browser.execute_script(
            "return [...document.querySelectorAll('tbody tr')].find(row => row.cells[0].textContent === arguments[0])", operator)
        return row.find_elements(By.TAG_NAME, "td")[self.keys().index(key)]

    def test_shows_every_operator_and_gathers_backends_that_are_alike(self):
        self.assertEqual(len(self.rows()), self.operators)
        self.assertIn("CPU", self.keys())
        self.assertNotIn("QuantizedHIP", self.keys())
        self.assertIn("QuantizedMeta to QuantizedCPU (15)", self.keys())
        self.assertIn(f"{self.operators} of {self.operators} operators", self.find("#count").text)

    def test_filters_operators_by_all_words(self):
        self.find("#operators").send_keys("ADD tensor")
        rows = self.rows()
        self.assertIn("aten::add.Tensor", rows)
        self.assertTrue(all("add" in row and "tensor" in row.lower() for row in rows), rows)
        self.find("#operators").send_keys(" nothing")
        self.assertEqual(self.rows(), [])
        self.assertTrue(self.find("#none").is_displayed())

    def test_shows_each_backend_on_demand(self):
        gathered = len(self.keys())
        self.find("#each").click()
        self.assertGreater(len(self.keys()), gathered)
        self.assertIn("QuantizedHIP", self.keys())

    def test_filters_keys_by_any_word(self):
        self.find("#keys").send_keys("autogradcpu, meta")
        keys = self.keys()
        self.assertIn("AutogradCPU", keys)
        self.assertIn("Meta", keys)
        self.assertTrue(all("autogradcpu" in key.lower() or "meta" in key.lower() for key in keys), keys)
        self.assertEqual(len(self.rows()), self.operators)

    def test_keeps_one_filter_when_the_other_changes(self):
        self.find("#operators").send_keys("aten::add.Tensor")
        self.find("#keys").send_keys("cpu")
        self.assertEqual(self.rows(), ["aten::add.Tensor"])

    def test_tells_kernel_and_place_of_the_cell_below_the_mouse(self):
        note = self.find("#note")
        self.assertFalse(note.is_displayed())
        cell = self.cell("aten::add.Tensor", "CPU")
        # On a busy machine the page scrolls after the mouse has moved. The page then learns that the mouse is over the
        # cell only when the mouse moves again.
        other = self.find("#operators")
        WebDriverWait(self.browser, 20).until(
            lambda browser: ActionChains(browser).move_to_element(other).move_to_element(cell).perform()
            or note.is_displayed())
        self.assertRegex(note.text, r"^aten::add\.Tensor at CPU\nunboxed kernel for this very key\nregistered at backends/native/\w+\.cpp:\d+$")
        self.assertEqual(self.find("th.marked").get_attribute("textContent"), "CPU")
        ActionChains(self.browser).move_to_element(self.find("#operators")).perform()
        self.assertFalse(note.is_displayed())

    def test_keeps_heads_in_sight(self):
        self.browser.execute_script("document.querySelector('main').scrollTo(100, 2000)")
        head = self.browser.execute_script("return document.querySelector('thead th').getBoundingClientRect().top")
        main = self.browser.execute_script("return document.querySelector('main').getBoundingClientRect().top")
        self.assertAlmostEqual(head, main, delta=1)


if __name__ == "__main__":
    BOXCAR = sys.argv.pop(1)
    unittest.main()

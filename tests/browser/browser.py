"""A headless Chromium for tests of pages: `with Page("page.html") as page: …`.

If Selenium, Chromium or its driver is missing or does not start, the test ends with status 77, which means "skipped" to
CTest.
"""

import shutil
import sys
from pathlib import Path

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
except ImportError:
    skip("python3-selenium is not installed")


class Page:
    """A file in a new browser window. Leaving it fails the test if the page wrote errors to the console."""

    def __init__(self, path, width=1400, height=1000):
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not chromium or not driver:
            skip("chromium and chromium-driver are not installed")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        try:
            self.driver = webdriver.Chrome(service=Service(driver), options=options)
        except WebDriverException as error:
            # For example on a machine without a host name or without shared memory.
            skip(f"Chromium cannot be started here: {error.msg}")
        self.url = Path(path).resolve().as_uri()

    def __enter__(self):
        self.driver.get(self.url)
        return self

    def __exit__(self, kind, error, trace):
        try:
            messages = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        finally:
            self.driver.quit()
        assert error is not None or not messages, f"the page wrote errors to the console: {messages}"

    def all(self, selector):
        """Returns the elements that match a CSS selector."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        assert len(found) == 1, f"{selector} finds {len(found)} elements instead of one"
        return found[0]

    def texts(self, selector):
        return [element.text for element in self.all(selector)]

    def run(self, script, *arguments):
        """Runs a script in the page and returns the value of its `return`."""
        return self.driver.execute_script(script, *arguments)

    def press(self, key):
        self.one("body").send_keys(key)

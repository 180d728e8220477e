"""Controls headless Chromium: opens pages, presses keys, takes pictures, and collects errors."""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Browser", "read_arguments"]

_MISSING = (
    "needs Chromium with its driver and selenium: apt-get install chromium chromium-driver; pip install '.[browser]'"
)
_WAIT_FOR_FRAMES = """
const done = arguments[0];
let left = 8;
const next = () => left-- ? requestAnimationFrame(next) : done();
next();
"""


def read_arguments(description: str) -> tuple[Path | None, str | None]:
    """Read the command line. Return the folder for pictures and the code of axe-core, or None for each."""
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="the folder for pictures")
    parser.add_argument("--axe", type=Path, help="the file axe.min.js of axe-core")
    arguments = parser.parse_args()
    if arguments.axe is None:
        print("axe-core is not run; give its file with --axe")
    return arguments.pictures, arguments.axe.read_text("utf-8") if arguments.axe else None


class Browser:
    """A window of Chromium."""

    def __init__(self) -> None:
        program, helper = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
        try:
            from selenium import webdriver  # noqa: PLC0415 - the message is for people without it
        except ImportError:
            sys.exit(_MISSING)
        if not program or not helper:
            sys.exit(_MISSING)
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(helper))

    def resize(self, width: int, height: int, *, dark: bool = False, script: bool = True) -> None:
        """Set the size of the page in pixels (a phone below 500), its colours, and whether scripts run."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.tell("Emulation.setDeviceMetricsOverride", screen)
        colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", {"features": [colours]})
        self.tell("Emulation.setScriptExecutionDisabled", {"value": not script})

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.driver.quit()

    def tell(self, command: str, arguments: dict[str, Any]) -> Any:
        """Send a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(command, arguments)

    def open(self, page: Path) -> float:
        """Open a page, and return the seconds until it is ready."""
        begin = time.perf_counter()
        self.driver.get(page.resolve().as_uri())
        self.wait()
        return time.perf_counter() - begin

    def wait(self, seconds: float = 0.0) -> None:
        """Wait until the page, or the page that replaces it, has drawn some frames."""
        from selenium.common.exceptions import WebDriverException  # noqa: PLC0415

        time.sleep(seconds)
        for _ in range(2):
            with suppress(WebDriverException):
                self.driver.execute_async_script(_WAIT_FOR_FRAMES)
                return
        self.driver.execute_async_script(_WAIT_FOR_FRAMES)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return the result of a script."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        """Press keys, given by name (`Enter`, `ArrowRight`) or as letters."""
        from selenium.webdriver.common.action_chains import ActionChains  # noqa: PLC0415
        from selenium.webdriver.common.keys import Keys  # noqa: PLC0415

        names = {
            "Enter": Keys.ENTER,
            "Tab": Keys.TAB,
            "Escape": Keys.ESCAPE,
            "ArrowRight": Keys.ARROW_RIGHT,
            "ArrowLeft": Keys.ARROW_LEFT,
        }
        for key in keys:
            ActionChains(self.driver).send_keys(names.get(key, key)).perform()
            self.wait()

    def click(self, selector: str, *, opens_window: bool = False) -> None:
        """Click the first element that matches a selector."""
        found = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({ block: 'center' })", found)
        self.wait()
        found.click()
        if not opens_window:  # a page in the background draws no frames
            self.wait()

    def go_to_new_window(self, seconds: int = 10) -> bool:
        """Go to the window that the last click opened. Return whether it opened within some seconds."""
        for _ in range(seconds * 4):
            if len(handles := self.driver.window_handles) > 1:
                self.driver.switch_to.window(handles[-1])
                return True
            time.sleep(0.25)
        return False

    def picture(self, file: Path) -> None:
        """Save a picture of the window as PNG."""
        self.wait(0.6)  # until animations end
        self.driver.save_screenshot(str(file))

    def pdf(self, file: Path) -> None:
        """Save the page as printed on A4."""
        paper = {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69}
        file.write_bytes(base64.b64decode(self.tell("Page.printToPDF", paper)["data"]))

    def complaints(self) -> list[str]:
        """Return the messages of the console: errors, and violations of the policy."""
        return [f"console: {each['message']}" for each in self._log("browser")]

    def _log(self, name: str) -> list[dict[str, Any]]:
        log: Any = self.driver.get_log  # selenium has no types for it
        return list(log(name))

    def requests(self) -> list[str]:
        """Return the addresses that were requested since the last call."""
        messages = (json.loads(each["message"])["message"] for each in self._log("performance"))
        sent = [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:,")]

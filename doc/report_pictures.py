"""Photograph a report of the command for the page "Write a report for the person who decides".

    PNORM_DATA=... python doc/report_pictures.py

Needs Chromium, Pillow and PNORM_DATA. It runs the command on the calls of a bank and writes report-top.png and
report-rows.png into doc/_static, each for light and for dark pages.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops

STATIC = Path(__file__).parent / "_static"

COMMAND = "bank-full.csv.gz --label y --ignore duration --budget 500 --report"

WIDTH, HEIGHT, SCALE = 740, 3000, 1.5
"""CSS pixels of the window, and pixels of the picture for each."""

ROWS = 10
"""Rows of the list in the picture of the first rows."""

MARGIN = 24
"""Pixels left below the last line."""

PICTURES = {
    "report-top": "#depth ~ section, footer { display: none }",
    "report-rows": f"main > :not(#rows), footer, #rows tbody tr:nth-child(n + {ROWS + 1}) {{ display: none }} "
    "main { padding-top: 1rem } #rows, #rows h2 { border: 0; margin: 0; padding: 0 }",
}
"""The CSS that hides the other parts of the page, by picture."""

DARK_IF_ASKED = "@media screen and (prefers-color-scheme: dark)"


def photograph(page, picture):
    """Photograph a page from its top, without the empty rest of the window."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
             f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}", f"--force-device-scale-factor={SCALE}",
             f"--screenshot={picture}", page.as_uri()],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    shot = Image.open(picture).convert("RGB")
    empty = Image.new("RGB", shot.size, shot.getpixel((0, shot.height - 1)))
    bottom = min(ImageChops.difference(shot, empty).getbbox()[3] + MARGIN, shot.height)
    shot.crop((0, 0, shot.width, bottom)).quantize(256, dither=Image.Dither.NONE).save(picture, optimize=True)


def main():
    """Write the report and photograph its parts."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        command = [sys.executable, "-P", "-m", "pnorm", *COMMAND.split(), report]
        subprocess.run(command, cwd=os.environ["PNORM_DATA"], check=True)
        text = report.read_text(encoding="utf-8")
        if DARK_IF_ASKED not in text:
            raise SystemExit("the style of the report has no dark colours")
        for name, left_out in PICTURES.items():
            for ending, when in (("", "@media not all"), ("-dark", "@media all")):
                page = Path(folder) / f"{name}{ending}.html"
                styled = text.replace(DARK_IF_ASKED, when).replace("</style>", f"{left_out}\n</style>")
                page.write_text(styled, encoding="utf-8")
                photograph(page, STATIC / f"{name}{ending}.png")


if __name__ == "__main__":
    main()

"""Takes the pictures of the README: the upper part of a report of a made-up cache, light and dark.

    picture_report.py URLCACHE-ADMIN
"""

import os, shutil, subprocess, sys, tempfile
from chromium import Chromium

tool = os.path.abspath(sys.argv[1])
checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder = tempfile.mkdtemp()
try:
    subprocess.run([tool, "sample", "--newest", "2026-01-01T00:00:00Z", "--entries", "4000", "--faults", "orphan-files", "com.example.shop"], cwd=folder, check=True)
    subprocess.run([tool, "report", "-c", "com.example.shop", "--capacity", "96MiB", "--at", "2026-01-02T00:00:00Z", "-o", "report.html"],
                   cwd=folder, check=True)
    # As everywhere in the README.
    path = os.path.join(folder, "report.html")
    with open(path) as file:
        page = file.read().replace(os.path.realpath(folder), "/Users/anna/Library/Caches")
    with open(path, "w") as file:
        file.write(page)
    browser = Chromium()
    try:
        browser.resize(1280, 880)
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            browser.open(path)
            browser.screenshot(os.path.join(checkout, f"share/doc/urlcache-admin/report-{scheme}.png"), whole=False)
    finally:
        browser.close()
finally:
    shutil.rmtree(folder)

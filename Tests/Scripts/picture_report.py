"""Takes the pictures of the README: the upper part of a report of a made-up cache, light and dark.

    picture_report.py URLCACHE-ADMIN SAMPLE-CACHE
"""

import os, shutil, subprocess, sys, tempfile
from chromium import Chromium

tool, maker = map(os.path.abspath, sys.argv[1:3])
checkout = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
folder = tempfile.mkdtemp()
try:
    subprocess.run([maker, "--entries", "4000", "--seed", "1", "--faults", "orphan-files", "com.example.shop"], cwd=folder, check=True)
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

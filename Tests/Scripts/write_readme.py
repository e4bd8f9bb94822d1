"""Runs every console block of the README and the tutorial, and writes the output into these pages.

    write_readme.py URLCACHE-ADMIN SAMPLE-CACHE
"""

import os
import sys

import readme_blocks

programs = [os.path.abspath(path) for path in sys.argv[1:3]]
for page in readme_blocks.PAGES:
    text, differences = readme_blocks.run_blocks(page, *programs)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    print(*differences, sep="\n", end="")

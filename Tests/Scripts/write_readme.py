"""Runs every console block of the README and the tutorial, and writes the output into these pages.

    write_readme.py URLCACHE-ADMIN
"""

import os
import sys

import readme_blocks

program = os.path.abspath(sys.argv[1])
for page in readme_blocks.PAGES:
    text, differences = readme_blocks.run_blocks(page, program)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    print(*differences, sep="\n", end="")

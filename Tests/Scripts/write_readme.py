"""Runs every console block of the README, and writes what is printed now into the README.

    write_readme.py URLCACHE-ADMIN SAMPLE-CACHE
"""

import os
import sys

import readme_blocks

text, differences = readme_blocks.run_blocks(readme_blocks.read(), *map(os.path.abspath, sys.argv[1:3]))
with open(readme_blocks.README, "w", encoding="utf-8") as file:
    file.write(text)
print(*differences, sep="\n", end="")

#!/bin/sh
# Makes a cache with the same times each day, with the program in the folder that the variable PRODUCTS names; its words are those of 'sample'.
exec "$PRODUCTS/urlcache-admin" sample --quiet --newest 2026-01-01T00:00:00Z "$@"

"""Asks `explain` the questions of two public test suites for HTTP caches, http-tests/cache-tests and http-cache-semantics, and of public reports, in an
encoding of our own.

A question is the status (200 unless given) and the fields of a response, then `<` and those of the request that it answered, `?` and those of the
presented request, and `+` and the seconds since it was received (3 unless given). Fields have short names; dates are seconds from the receipt, or texts.
An answer is `use` (without asking the origin) or `no`; `ask FIELD: VALUE` (a conditional request with that field) or `ask nothing` (without any); `keep`
or `leave` (whether a cache may store it). Behind the answer of the suite, a `!` begins ours if it differs, with the argument. Our cache is a private one,
as `URLCache` is.
"""

import calendar
import collections
import json
import re
import subprocess
import time

import pytest

import raw_origin
import scratch
import worlds
from products import tool

SHARED = "a private cache ignores what is for shared caches (RFC 9111 §5.2.2.10)"
CDN = "the field is for caches of the origin, not for those of clients (RFC 9213 §2)"
FIRST = "of two values the first counts, or else the response is stale (RFC 9111 §4.2.1)"
INVALID = "an invalid lifetime makes the response stale (RFC 9111 §4.2.1)"
UNKNOWN = "the status has no meaning here, so a lifetime is needed (RFC 9110 §15.1)"
ADVICE = "the suite asks whether a cache honours it; RFC 9111 §5.2.1 says what it means, and `explain` shows that"
PRESENTED = "`explain` compares as RFC 9111 §4.1 requires; to normalise values by their meaning is optional"
AGES = "`Date` counts for the age (RFC 9111 §4.2.3)"

QUESTIONS = f"""
# Lifetimes
: no
cc max-age=3600: use
cc max-age=2: no
cc max-age=0: no
cc max-age=2147483647: use
cc max-age=2147483648: use
cc max-age=2147483649: use
cc max-age=99999999999: use
date 0 / cc max-age=3600 / age 7200: no
date -7200 / cc max-age=3600: no
cc max-age=3600 / exp -7200 / date 0: use
cc max-age=3600 / exp "0" / date 0: use
exp 3600 / cc max-age=0 / date 0: no
cc foobar, max-age=3600: use
cc MaX-aGe=3600: use
cc max-age=-3600: no
cc s-maxage=3600, max-age=1: no
cc s-maxage=3600 / cc max-age=1: no
cc s-maxage=3600: use! no: {SHARED}
cc max-age=3600, s-maxage=1: no! use: {SHARED}
cc s-maxage=1, max-age=3600: no! use: {SHARED}
cc max-age=3600 / cc s-maxage=1: no! use: {SHARED}
cc max-age=1, s-maxage=3600: use! no: {SHARED}
exp -10 / cc max-age=0, s-maxage=3600: use! no: {SHARED}
cc public, max-age=999999: use
cc immutable, max-age=999999: use
cc immutable, max-age=0: no
cc private, public, max-age=259200: use
cc public, max-age=0: no
cc public, max-age=9999 / exp "Sat, 07 May 2016 15:35:18 GMT": use
cc public, s-maxage=9999 / exp "Sat, 07 May 2016 15:35:18 GMT": no
cc public, max-age=333 / exp 3600 +334: no
cc public, max-age=333 / exp 3600 +332: use
cc public / exp 3600: use
cc public / exp 3600 +3595: use
cc public / exp 3600 +3605: no
exp 2 / date 0 +1: use
exp 0 / date -3: no
date 0 / cc immutable / lm 0: use! no: `immutable` gives no lifetime (RFC 8246 §2)
date 0 / lm "Mon, 07 Mar 2016 11:52:56 GMT": use
date -5 / lm -105 +0: use
date -5 / lm -105 +6: no
date -432000 / lm -9072000 +0: use
date -432000 / lm -9072000 +432001: no
date -120 / cc max-age=60: use! no: {AGES}
date 120 / cc max-age=60: use
date 120 / cc max-age=60 +61: no
cc max-age=100 / age 50: use
cc max-age=100 / age 50 +48: use
cc max-age=100 / age 50 +53: no
cc max-age=100 / age 101: no
cc max-age=20 / age 15: use
cc max-age=20 / age golden: use
cc s-maxage=60, max-age=180 / date -120: use
cc s-maxage=60, max-age=180 / age 360: no
cc no-store, public, max-age=1: no
tag v1 / lm -7200 / exp 3600: use
cc private, max-age=1234: use
cc max-age=99 / sc a=b: use
cc immutable, max-age=99 / sc a=b: use
cc max-age=5, public / sc a=b: use
date -77 / cc private, max-age=60, s-maxage=60 / vary Accept, Cookie / tag W/"48": use! no: {AGES}
# The syntax of Cache-Control
cc max-age=1800, max-age=1: use
cc max-age=1800 / cc max-age=1: use
cc max-age=1, max-age=1800: use! no: {FIRST}
cc max-age=1 / cc max-age=1800: use! no: {FIRST}
cc max-age="3600": use
cc extension="max-age=3600", max-age=1: no
cc max-age=1, extension="max-age=3600": no
cc max-age =3600: no
cc max-age= 3600: no
cc max-age=003600: use
cc max-age='3600': no
cc max-age=3600.0: use! no: {INVALID}
cc max-age=3600.5: use! no: {INVALID}
cc max-age:3600: no
cc "max-age: 3600": no
cc max-age=a3600: use! no: {INVALID}
cc max-age=3600a: use! no: {INVALID}
cc ,,,,max-age =  456      ,: use! no: there is no white space around `=` (RFC 9110 §5.6.6)
cc   max-age = "678"      : use! no: there is no white space around `=` (RFC 9110 §5.6.6)
cc pre-check=0, post-check=0, no-store, no-cache, max-age=100: no
cc pre-check=0, post-check=0, no-cache, no-store, max-age=100, custom / prag no-cache: use! no: the suite asks with an option that ignores `no-store`
# The syntax of Age
date 0 / cc max-age=3600 / age abc: use
date 0 / cc max-age=3600 / age -7200: use
date 0 / cc max-age=3600 / age 7200.0: use
date 0 / cc max-age=3600 / age 2147483647: no
date 0 / cc max-age=3600 / age 2147483648: no
date 0 / cc max-age=3600 / age 2147483649: no
date 0 / cc max-age=3600 / age 7200, 0: no
date 0 / cc max-age=3600 / age 0, 7200: use
date 0 / cc max-age=3600 / age 7200 / age 0: no
date 0 / cc max-age=3600 / age 0 / age 7200: use
date 0 / cc max-age=3600 / age 0, 0: use
date 0 / cc max-age=3600 / age 0 / age 0: use
date 0 / cc max-age=10000 / age 3600 / age 3600: use
date 0 / cc max-age=3600 / age 7200;foo=bar: no! use: an `Age` with anything but digits is ignored (RFC 9111 §5.1)
date 0 / cc max-age=3600 / age 7200;foo=111: no! use: an `Age` with anything but digits is ignored (RFC 9111 §5.1)
# Expires
exp 2592000 / date 0: use
exp -2592000 / date 0: no
exp 0 / date 0: no
exp 300 / date 400: no
exp "0" / date 0: no
date foo / exp 10: use
date -10 / exp 10 / age 25: no
date 10 / exp 20 / age 15: no
exp "Tue, 19 Jan 2038 14:14:08 GMT" / date 0: use
exp "Sun, 21 Nov 2286 04:46:39 GMT" / date 0: use
exp "Thursday, 18-Aug-50 02:01:18 GMT" / date 0: use
exp "Thu Aug  8 02:01:18 2050" / date 0: use
exp "THU, 18 Aug 2050 02:01:18 GMT" / date 0: use
exp "Thu, 18 AUG 2050 02:01:18 GMT" / date 0: use
exp "Thu, 18 Aug 2050 02:01:18 gMT" / date 0: use
exp "Thu, 18 Aug 2050 02:01:18 UTC" / date 0: no
exp "Thu, 18 Aug 2050 02:01:18 AEST" / date 0: no
exp "Thu, 18 Aug 50 02:01:18 GMT" / date 0: no
exp "Thu 18 Aug 2050 02:01:18 GMT" / date 0: no
exp "Thu, 18  Aug  2050 02:01:18 GMT" / date 0: no
exp "Thu, 18-Aug-2050 02:01:18 GMT" / date 0: no
exp "Thu, 18 Aug 2050 02.01.18 GMT" / date 0: no
exp "Thu, 18 Aug 2050 2:01:18 GMT" / date 0: no
exp "Thu, 18 Aug 2050 2:01:18 GMT" / exp "Thu, 18 Aug 2050 2:01:19 GMT" / date 0: no
# Directives of responses
cc private, max-age=3600: no! use: {SHARED}
cc no-store: no
cc No-StOrE: no
cc max-age=10000, no-store / exp 10000 / date 0: no
cc max-age=10000, no-cache / exp 10000 / date 0: no
cc max-age=10000, No-CaChE / exp 10000 / date 0: no
cc no-cache / tag "abcd": ask If-None-Match: "abcd"
cc max-age=10000, no-cache / exp 10000 / date 0 / tag "abcd": ask If-None-Match: "abcd"
cc no-cache="a" / x-a 1 / cc max-age=3600 / date 0: use
cc no-cache="a, b" / x-a 1 / cc max-age=3600 / date 0: use
cc max-age=10000, must-revalidate / tag "abcd": use
cc max-age=2, must-revalidate / tag "abcd": ask If-None-Match: "abcd"
cc max-age=10000, immutable / tag "abcd": use
cc max-age=2, immutable / tag "abcd": ask If-None-Match: "abcd"
cc max-age=2, proxy-revalidate +1: use
cc max-age=1, stale-while-revalidate=3600 / tag "abc": use
cc max-age=1, stale-while-revalidate=4 / tag "abc" +9: no
cc max-age=60, stale-while-revalidate=200 / age 120: no! use: the window is what RFC 5861 §3 is for; the suite asks for its second answer
cc max-age=60, stale-while-revalidate=200, must-revalidate / age 120: no
cc max-age=60, stale-while-revalidate=200 / age 260: no
cc max-age=60, stale-if-error=200 / age 120: no
cc max-age=2, stale-if-error=60: use! no: it permits a stale response after an error, which is not known yet (RFC 5861 §4)
cc max-age=2, must-revalidate: no
cc max-age=2, proxy-revalidate: no
cc max-age=2, no-cache +1: no
cc max-age=2, s-maxage=2: no
exp -5000 / lm -100000 / date 0: no
# Heuristics
lm -86400 / date 0: use
201 lm -86400 / date 0: no
202 lm -86400 / date 0: no
203 lm -86400 / date 0: use
204 lm -86400 / date 0: use
403 lm -86400 / date 0: no
404 lm -86400 / date 0: use
405 lm -86400 / date 0: use
410 lm -86400 / date 0: use
414 lm -86400 / date 0: use
501 lm -86400 / date 0: use
502 lm -86400 / date 0: no
503 lm -86400 / date 0: no
504 lm -86400 / date 0: no
599 lm -86400 / date 0: no
599 lm -86400 / date 0 / cc public: use
lm -5 / date 0: no
lm -10 / date 0: no
lm -30 / date 0: no
lm -60 / date 0: use
lm -300 / date 0: use
lm -600 / date 0: use
lm -1200 / date 0: use
lm -1800 / date 0: use
lm -3600 / date 0: use
lm -43200 / date 0: use
301 lm "Mon, 07 Mar 2016 11:52:56 GMT": use
303 lm "Mon, 07 Mar 2016 11:52:56 GMT": no
303 cc max-age=1000: use
412 cc public, max-age=1000: no! use: a lifetime and `public` make any final response storable (RFC 9111 §3)
503 cc public, max-age=1000: no! use: a lifetime and `public` make any final response storable (RFC 9111 §3)
302 exp 4: use
lm -100000 / date 0 / x-disposition attachment: use
cc max-age=100000 / date 0 / x-disposition attachment: use
cc max-age=100000 / date 0 / sc a=b: use
# Statuses with a lifetime, and after it
{'''
'''.join(f"{status} cc max-age=100000 / date 0: use{chr(10)}{status} exp -5000 / lm -100000 / date 0: no"
         for status in (203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 410, 499, 500, 502, 503, 504, 599))}
599 cc max-age=3600, no-store, must-understand: no
cc max-age=3600, no-store, must-understand: use
# What may be stored
{'''
'''.join(f"{status} lm -3600 / exp 3600: {answer}" for answer, all in {
    "keep": (200, 203, 204, 300, 301, 302, 307, 308, 404, 405, 410, 414, 501),
    "leave! keep: an `Expires` makes any final response storable (RFC 9111 §3)":
        (201, 202, 205, 207, 305, 306, 400, 401, 402, 403, 406, 408, 409, 411, 412, 413, 415, 416, 417, 418, 429, 500, 502, 503, 504, 505, 506)}.items()
    for status in all)}
cc max-age=60 < cc no-store: leave
cc public, max-age=222 < cc no-store: leave
cc max-age=111 < auth test: keep
cc public, max-age=222 < auth test: keep
cc max-age=0,s-maxage=12 < auth test: keep
cc max-age=88,must-revalidate < auth test: keep
cc pre-check=0, no-store, no-cache, max-age=100: leave
# Directives of requests
cc max-age=100000 / date 0 ? cc max-age=0: no
cc max-age=100000 / date 0 ? cc max-age=1: no
cc max-age=100000 / date 0 / age 1800 ? cc max-age=600: no
cc max-age=2 / date 0 ? cc max-stale=1000: use
cc max-age=1500 / age 2000 ? cc max-stale=1000: use
cc max-age=1500 ? cc min-fresh=2000: no
cc max-age=1500 / age 1000 ? cc min-fresh=1000: no
cc max-age=3600 ? cc no-cache: no
cc max-age=3600 / lm "Wed, 08 Oct 2025 10:00:00 GMT" / date 0 ? cc no-cache: ask If-Modified-Since: Wed, 08 Oct 2025 10:00:00 GMT
cc max-age=3600 / tag "a" ? cc no-cache: ask If-None-Match: "a"
cc max-age=100000 / date 0 ? cc no-store: no! use: it forbids storing the answer, not the use of a stored response (RFC 9111 §5.2.1.5)
lm -7200 / age 60 / exp 3600 ? cc max-age=90: use
lm -7200 / age 60 / exp 3600 ? cc max-age=30: no
cc max-age=60 ? cc min-fresh=120: no
cc max-age=60 ? cc min-fresh=10: use
cc max-age=60, stale-while-revalidate=100000 ? cc min-fresh=120: no
cc max-age=60, stale-while-revalidate=100000 ? cc min-fresh=10: use
cc max-age=120 / age 240 ? cc max-stale=180: use
cc max-age=120 / age 240 ? cc max-stale: use
cc max-age=120 / age 240 ? cc max-stale=10: no
cc max-age=120, must-revalidate / age 360 ? cc max-stale=180: no
cc max-age=120, must-revalidate / age 360 ? cc max-stale: no
cc max-age=60, stale-while-revalidate=200 / age 100 ? cc max-stale: use
cc max-age=60, stale-while-revalidate=200 / age 100 ? cc max-stale=40: no! use: what the response permits is not less because of `max-stale`
cc max-age=20 ? cc fine: use
cc max-age=20 ? prag no-cache: no
cc max-age=100000 / date 0 ? prag no-cache: use! no: without a `Cache-Control`, it means `no-cache` (RFC 7234 §5.4)
cc max-age=100000 / date 0 ? prag unrecognised-extension: use
cc max-age=100000 / date 0 ? cookie a=b: use
# Pragma of responses
cc max-age=3600 / prag no-cache: use
date 0 / lm -10000 / prag no-cache: use
cc max-age=3600 / prag unrecognised-extension: use
prag no-cache / lm "Mon, 07 Mar 2016 11:52:56 GMT": no! use: in a response it has no meaning (RFC 9111 §5.4)
cc  / prag no-cache / lm -10000: use
# Vary
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1 ? x-foo 1: use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1 ? x-foo 2: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo ? x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1 ? x-foo: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1 / x-other 2 ? x-other 3: use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar < x-foo 1 / x-bar abc ? x-foo 1: use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar < x-foo 1 / x-bar abc ? x-foo 2: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar < x-foo 1 / x-bar abc ? x-foo / x-bar: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar, X-Baz < x-foo 1 / x-bar abc / x-baz 789 ? x-foo 1: use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar, X-Baz < x-foo 1 / x-bar abc / x-baz 789 ? x-foo 2: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar, X-Baz < x-foo 1 / x-bar abc / x-baz 789 ? x-bar abcde: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, X-Bar, X-Baz < x-foo 1 / x-baz 789 ? x-foo 1: use
cc max-age=5000 / lm -3000 / date 0 / vary * < x-foo 1 ? x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary *, * < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary * / vary * < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary , * < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary  / vary * < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary *, X-Foo < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo, * < x-foo 1: no
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1, 2 ? x-foo 1,2: use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1,2 ? x-foo  1, 2 : use
cc max-age=5000 / lm -3000 / date 0 / vary X-Foo < x-foo 1, 2 ? x-foo 1 / x-foo 2: use
cc max-age=5000 / lm -3000 / date 0 / vary Accept-Language < al en, de ? al  en ,   de: use
cc max-age=5000 / lm -3000 / date 0 / vary Accept-Language < al en, de ? al de, en: use! no: {PRESENTED}
cc max-age=5000 / lm -3000 / date 0 / vary Accept-Language < al en, de ? al eN, De: use! no: {PRESENTED}
cc max-age=5000 / lm -3000 / date 0 / vary Accept-Language < al en, de ? al fr;q=0.5, de;q=1.0: use! no: {PRESENTED}
cc max-age=5 / vary X-Weather < x-weather nice ? x-weather nice: use
cc max-age=5 / vary X-Weather < x-weather nice ? x-weather bad: no
cc max-age=5 / vary x-WEATHER < x-weather BAD ? x-weather BAD: use
cc max-age=5 / vary x-WEATHER < x-weather BAD ? x-weather bad: no
cc max-age=5 / vary X-Moon < x-weather nice ? x-weather bad: use
cc max-age=5 / vary X-Moon < x-weather nice ? x-sun shining: use
cc max-age=5 / vary X-Moon < x-weather nice ? x-moon full: no
cc max-age=5 / vary X-Moon, X-Weather < x-weather nice ? x-weather nice: use
cc max-age=5 / vary     X-Weather       ,     X-Sun      < x-weather nice / x-sun shining: use
cc max-age=5 / vary     X-Weather       ,     X-Sun      < x-weather nice / x-sun shining ? x-sun: no
cc public,max-age=99 / vary * < x-weather ok: no
cc public,max-age=99 / vary X-Weather < x-weather ok: use
# Authorization
cc max-age=100000 / date 0 < auth FOO: no! use: {SHARED}
cc max-age=3600, public / date 0 < auth FOO: use
cc max-age=3600, must-revalidate / date 0 < auth FOO: use
cc s-maxage=3600 / date 0 < auth FOO: use! no: {SHARED}
# What is asked
cc max-age=2 / date 0 / tag "abcdef": ask If-None-Match: "abcdef"
cc max-age=2 / date 0 / tag W/"abcdef": ask If-None-Match: W/"abcdef"
cc max-age=2 / date 0 / tag abcdef: ask If-None-Match: "abcdef"! ask If-None-Match: abcdef: the value is sent as it was received (RFC 9111 §4.3.1)
exp 1 / tag "abcdef" / date 0 / vary X-Abc < x-abc 123: ask X-Abc: 123
cc max-age=111 / tag "123456789" +200: ask If-None-Match: "123456789"
cc max-age=111 / lm "Tue, 15 Nov 1994 12:45:26 GMT" +200: ask If-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT
cc max-age=111 / tag "123456789" / lm "Tue, 15 Nov 1994 12:45:26 GMT" +200: ask If-None-Match: "123456789"
cc max-age=111 / tag "123456789" / lm "Tue, 15 Nov 1994 12:45:26 GMT" +200: ask If-Modified-Since: Tue, 15 Nov 1994 12:45:26 GMT
cc max-age=111 +200: ask nothing
# Fields for caches of the origin
cdn max-age=3600: use! no: {CDN}
cdn max-age=2147483648: use! no: {CDN}
cdn max-age=99999999999: use! no: {CDN}
date 0 / cdn max-age=3600 / age 7200: no
cc max-age=1 / cdn max-age =100: no
cc max-age=1 / cdn max-age= 100: no
cdn max-age=0: no
cdn foobar, max-age=3600: use! no: {CDN}
cdn MaX-aGe=3600: use! no: {CDN}
cdn max-age=3600 / exp -10000 / date 0: use! no: {CDN}
cdn max-age=3600 / exp "0" / date 0: use! no: {CDN}
cdn max-age=0 / exp 10000 / date 0: no! use: {CDN}
cc max-age=1 / cdn max-age=3600: use! no: {CDN}
cc max-age=3600 / cdn max-age=1: no! use: {CDN}
cdn private / cc max-age=10000 / exp 10000 / date 0: no! use: {CDN}
cdn no-cache / cc max-age=10000 / exp 10000 / date 0: no! use: {CDN}
cc max-age=10000 / cdn no-store / exp 10000 / date 0: no! use: {CDN}
cc no-store / cdn max-age=10000: use! no: {CDN}
cdn max-age=10000, &&&&& / cc no-store: no
cdn max-age="10000" / cc no-store: no
# From public reports about clients
date 0 / cc no-cache, max-age=600 +120: no
date 0 / cc max-age=60, proxy-revalidate +120: no
date 0 / exp "-1" / lm -345600000: no
date 0 / exp "" / lm -345600000: no
date 0 / cc max-age=0, max-age=300: no
date 0 / cc public; max-age=3600: no
date 0 / cc private="x-a, no-cache", max-age=3600: use
date 0 / cc no-cache="set-cookie", max-age=3600: use
date 0 / cc max-age=200, stale-if-error=300: use
date 0 / cc no-store, max-age=3600: no
date 0 / lm 86400: no
date 0 / lm -31536000: use
302 date 0 / lm -345600000: no
date 3600 / cc max-age=60 +120: no
date -3600 / cc max-age=60 +1: no
date now / cc max-age=60 +120: no
date now / exp 3600 +120: use
date 0 / cc max-age=3600 / vary Origin: use
"""

NAMES = {"cc": "Cache-Control", "exp": "Expires", "lm": "Last-Modified", "tag": "ETag", "prag": "Pragma", "sc": "Set-Cookie", "auth": "Authorization",
         "al": "Accept-Language", "cdn": "CDN-Cache-Control"}
RECEIVED = calendar.timegm((2026, 1, 2, 12, 0, 0))


def when(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(RECEIVED + seconds))


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(RECEIVED + seconds))


def fields(text):
    """The fields of a message, as names and values."""
    result = []
    for part in text.split(" / ") if text.strip() else ():
        name, _, value = part.lstrip().partition(" ")
        if name in ("exp", "lm", "date"):
            value = when(int(value)) if re.fullmatch(r"-?\d+", value.strip()) else value.strip().strip('"')
        if re.fullmatch(r'"[^"]*: [^"]*"', value):
            value = value[1:-1]
        result.append({"name": NAMES.get(name, name), "value": value})
    return result


def read(line):
    """A question with the answer of its suite, and ours."""
    question, _, answers = re.fullmatch(r'((?:[^:"]|"[^"]*"|:\S)*)(: )((?:use|no|ask|keep|leave).*)', line).groups()
    public, _, ours = answers.partition("! ")
    if ours:
        # What follows the last field of an answer is the argument.
        ours, argument = re.fullmatch(r"(use|no|keep|leave|ask [\w-]+: \S+): (.*)", ours).groups()
        assert ours != public and len(argument) > 20, line
    question, _, seconds = re.fullmatch(r"(.*?)( \+(\d+))?", question).groups()
    question, _, presented = question.partition(" ? ")
    question, _, request = question.partition(" < ")
    status = re.match(r"\d{3} ", question)
    return {"line": line, "status": int(status[0]) if status else 200, "response": fields(question[4:] if status else question),
            "request": fields(request), "presented": tuple((each["name"], each["value"]) for each in fields(presented)),
            "seconds": int(seconds or 3), "public": public, "answer": ours or public}


def questions():
    return [read(line) for line in QUESTIONS.splitlines() if line and not line.startswith("#")]


def answered(found, answer):
    """Whether an explanation is an answer."""
    if answer in ("use", "no"):
        return found["reusable"] == (answer == "use")
    if answer in ("keep", "leave"):
        return found["storable"]["may_store"] == (answer == "keep")
    sent = {name.lower(): value for name, value in found["conditional_request"]["headers"].items()}
    name, _, value = answer.removeprefix("ask ").partition(": ")
    if found["reusable"]:
        return False
    return not any(each.startswith("if-") for each in sent) if name == "nothing" else sent.get(name.lower()) == value


def test_questions():
    """Each question has the answer that its suite wants, or another for a reason."""
    everything = questions()
    entries = []
    for number, question in enumerate(everything):
        question["url"] = f"https://q.example/{number}"
        entries.append({
            "startedDateTime": stamp(0), "time": 0, "cache": {}, "timings": {"send": 0, "wait": 0, "receive": 0},
            "request": {"method": "GET", "url": question["url"], "httpVersion": "HTTP/1.1", "headers": question["request"], "queryString": [],
                        "cookies": [], "headersSize": -1, "bodySize": 0},
            "response": {"status": question["status"], "statusText": "", "httpVersion": "HTTP/1.1", "headers": question["response"], "cookies": [],
                         "content": {"size": 4, "mimeType": "text/plain", "text": "body"}, "redirectURL": "", "headersSize": -1, "bodySize": 4}})
    archive = scratch.path("questions.har")
    with open(archive, "w") as file:
        json.dump({"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}}, file)
    groups = collections.defaultdict(list)
    for question in everything:
        groups[question["seconds"], question["presented"]].append(question)
    wrong = []
    for (seconds, presented), group in groups.items():
        joined = {}
        for name, value in presented:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        words = [word for name, value in joined.items() for word in ("--request-header", f"{name}: {value}" if value else f"{name}:")]
        result = subprocess.run([tool, "explain", "-c", archive, *(question["url"] for question in group), *words, "--platform", "rfc9111", "--at", stamp(seconds),
                                 "--format", "ndjson"], capture_output=True)
        assert result.returncode in (0, 1, 3), result
        found = {row["url"]: row for row in map(json.loads, result.stdout.splitlines())}
        wrong += [question["line"] for question in group if question["url"] not in found or not answered(found[question["url"]], question["answer"])]
    differing = sum(question["answer"] != question["public"] for question in everything)
    assert not wrong, "\n".join(wrong)
    assert len(everything) >= 388 and len(everything) - differing >= 312, (len(everything), differing)
    print(f"{len(everything)} questions, {len(everything) - differing} agreements, {differing} disagreements")


# --- What a 304 and a new response leave stored ------------------------------------------------------------------------------

# The fields that both suites and RFC 9111 §3.2 say are not updated by a 304; of the rest, the new value is stored.
KEPT = {"Content-Length"}
UPDATED = ["Test-Header", "X-Test-Header", "Content-Foo", "X-Content-Foo", "Content-Location", "Content-MD5", "Content-Security-Policy", "Clear-Site-Data",
           "Expires", "Public-Key-Pins", "Set-Cookie", "Set-Cookie2", "X-Frame-Options", "X-XSS-Protection"]
# URLCache stores decoded bodies, so a 304 cannot change what describes them.
DESCRIBING = ["Content-Encoding", "Content-Range", "Content-Type"]
# The fields of a connection are not stored (RFC 9111 §3.1).
HOPS = ["Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "TE", "Upgrade"]
STORED = UPDATED + ["Content-Range", "Content-Type", "ETag", "Cache-Control"]


@pytest.mark.parametrize("status", [304, 200])
def test_stored_fields(status):
    """After a 304, a stored response has its new fields and keeps the rest; after a 200, it has those that may be stored."""
    new = {name: f"new-{number}" for number, name in enumerate(UPDATED + DESCRIBING)}
    new["Expires"], new["Content-Type"] = when(60), "text/new"
    answer = {**new, "ETag": '"1"' if status == 304 else '"2"', "Cache-Control": "max-age=9"}
    # libcurl does not know the coding and the range, and refuses a body with them.
    for name in ("Content-Encoding", "Content-Range") if status == 200 else ():
        del answer[name]
    answer |= {name: "x" for name in HOPS if name != "Connection"}
    body = b"" if status == 304 else b"hello"
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in answer.items()), "Connection: close, X-Hop", "X-Hop: 1"]
    lines += [f"Content-Length: {len(body)}"] if status == 200 else []
    with raw_origin.listening(lambda head: "\r\n".join([*lines, "", ""]).encode() + body) as place:
        old = {"ETag": '"1"', "Cache-Control": "max-age=1", "X-Old": "old", **{name: "old" for name in UPDATED + DESCRIBING}}
        cache = worlds.apple(scratch.path("stored"), [worlds.Entry(f"http://{place}/a", b"body", headers=old)])
        found = json.loads(subprocess.run([tool, "revalidate", "-c", cache, "--all", "--refresh", "--yes", "--format", "json"], capture_output=True).stdout)
        assert found["entries"][0]["action"] == ("freshen" if status == 304 else "replace"), found
    row = json.loads(subprocess.run([tool, "list", "-c", cache, "--columns", "response-headers", "--format", "ndjson", "--show-secrets"],
                                    capture_output=True, check=True).stdout)
    stored = {name.lower(): value for name, value in row["response_headers"]}
    for name in UPDATED:
        assert stored[name.lower()] == new[name], (name, stored)
    if status == 304:
        assert all(stored[name.lower()] == "old" for name in DESCRIBING) and stored["x-old"] == "old", stored
        assert stored["content-length"] == "4", stored
    else:
        assert "x-old" not in stored and stored["content-type"] == "text/new", stored
    for name in [*HOPS, "X-Hop"]:
        assert name.lower() not in stored, (name, stored)

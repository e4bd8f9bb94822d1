// Sends the requests that come in over the standard input, and writes what comes of them to the standard
// output, in frames. `urlcache-admin revalidate` runs it; so the program that reads caches opens no socket.

import Files

CurrentProcess.ignoreSignalsOfWriting()
// Foundation on Linux makes folders for a cache and for cookies that nobody wants, unless it cannot.
for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME"] { CurrentProcess.set(name, to: "/dev/null") }
Fetcher().run()

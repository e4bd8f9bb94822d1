// Sends the requests that come in over the standard input, and writes what comes of them to the standard
// output, in frames. `urlcache-admin revalidate` runs it; so the program that reads caches opens no socket.

import Files

CurrentProcess.ignoreSignalsOfWriting()
// Foundation on Linux makes a folder for a cache that nobody wants, unless it cannot.
CurrentProcess.set("XDG_CACHE_HOME", to: "/dev/null")
Fetcher().run()

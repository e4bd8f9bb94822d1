// Sends the requests that arrive on standard input, and writes the responses to standard output, in frames.
// `urlcache-admin revalidate` runs it, so that the program that reads caches opens no socket.

import Files

CurrentProcess.ignoreSignalsOfWriting()
// Foundation on Linux creates folders for a cache and cookies. Pointing it at /dev/null prevents that.
for name in ["XDG_CACHE_HOME", "XDG_DATA_HOME"] { CurrentProcess.set(name, to: "/dev/null") }
Fetcher().run()

import AdminCommands

URLCacheAdmin.runProcess(CommandLine.arguments)

import Files

extension URLCacheAdmin {
  /// Runs the command line of this process, and ends it.
  public static func runProcess(_ arguments: [String]) -> Never {
    if arguments.count > 1, arguments[1] == Worker.argument {
      Worker.run(Array(arguments.dropFirst()))
    }
    // A closed pipe is then an error of the write, which ends the command in good order.
    CurrentProcess.ignoreSignalsOfWriting()
    guard let environment = CommandEnvironment.live() else {
      try? StandardStream.error.write(Array("error: cannot read the system clock\n".utf8))
      // Ages and lifetimes of all entries would be wrong, and with them what a purge removes.
      CurrentProcess.end(with: ExitStatus.software.rawValue)
    }
    CurrentProcess.end(with: run(arguments, in: environment).rawValue)
  }
}

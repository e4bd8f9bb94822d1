import Bytes
import Files
import Progress
import Rendering
import ResponseArchives
import ResponseStorage

extension CommandEnvironment {
  /// Returns the environment with the styles and the progress that the options choose.
  func showing(by options: TerminalOptions) -> CommandEnvironment {
    var environment = self
    environment.outputStyle = options.style(onTerminal: isOutputTerminal, variable)
    environment.messageStyle = options.style(onTerminal: isMessageTerminal, variable)
    environment.outputStyle.columns = terminalWidth
    environment.messageStyle.columns = isMessageTerminal ? messageWidth() : nil
    guard
      let progress = ProgressDisplay(
        options.progress, isTerminal: isMessageTerminal, width: messageWidth,
        isASCII: environment.messageStyle.isASCII, milliseconds: LocalTime.steadyMilliseconds,
        write: writeProgress)
    else { return environment }
    environment.progress = progress
    // What is written to the same terminal must not begin behind the line of progress.
    environment.writeMessage = { [writeMessage] text in
      progress.interrupt(by: text.utf8.last) { writeMessage(text) }
    }
    if isOutputTerminal {
      environment.write = { [write] bytes in
        try progress.interrupt(by: bytes.last) { try write(bytes) }
      }
    }
    return environment
  }

  /// Does work whose progress is shown if it takes long.
  ///
  /// - Parameters:
  ///   - label: What is done, as "Removing entries".
  ///   - total: The number of pieces of work, which ``WorkCounter`` counts; `nil` if it is unknown.
  ///   - unit: The pieces of work.
  func showingProgress<Result>(
    _ label: String, of total: @autoclosure () throws -> Int64?, unit: String = "entries",
    _ work: () throws -> Result
  ) throws -> Result {
    guard let progress else { return try work() }
    return try progress.show(label, of: total(), unit: unit, work)
  }

  /// Does work on all entries of a cache or an archive, whose progress is shown if it takes long.
  func showingProgress<Result>(
    _ label: String, over source: any ResponseSource, _ work: () throws -> Result
  ) throws -> Result {
    try showingProgress(label, of: Self.total(of: [source]), work)
  }

  /// Returns the number of entries; `nil` if a source is an archive, which would have to be read for it.
  static func total(of sources: [any ResponseSource]) throws -> Int64? {
    guard sources.allSatisfy(\.description.traits.isCache) else { return nil }
    return try sources.reduce(Int64(0)) { try $0 + $1.count() }
  }

  /// Compacts a store, and shows the progress.
  func compact(
    _ store: any ResponseStore, of footprint: Footprint, fully: Bool = false,
    unless shouldStop: () -> Bool
  ) throws -> CompactionMethod {
    let pages = footprint.pageBytes > 0 ? footprint.freeBytes.bytes / footprint.pageBytes.bytes : 0
    return try showingProgress("Compacting the database", of: pages, unit: "pages") {
      try store.compact(fully: fully, unless: shouldStop)
    }
  }
}

import Foundation

/// The result of running a program.
struct Command {
  let status: Int32
  let output: String
  let errors: String

  /// The folder of all tests.
  static let tests = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Runs a program. Its output goes to files, because a pipe could fill up.
  ///
  /// It gets private folders for temporary files and state, which are removed with everything that killed programs
  /// leave there.
  static func run(_ path: String, _ arguments: [String]) throws -> Command {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["output", "errors"].map { folder.appending(path: $0) }
    for file in files { try Data().write(to: file) }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let temporary = folder.appending(path: "temporary")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
    process.environment = ProcessInfo.processInfo.environment
      .merging([
        "TMPDIR": temporary.path(), "XDG_STATE_HOME": folder.appending(path: "state").path(),
      ]) { $1 }
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    return Command(
      status: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
  }

  /// Runs a Python script in `Tests/Scripts`.
  static func python(_ script: String, _ arguments: String...) throws -> Command {
    let path = tests.appending(path: "Scripts/\(script)").path()
    return try run("/usr/bin/env", ["python3", path] + arguments)
  }
}

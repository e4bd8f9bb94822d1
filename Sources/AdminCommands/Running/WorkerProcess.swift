import Administration
import Bytes
import Fetching
import Files
import Rendering
import ResponseStorage

/// A worker, seen from the process that has started it: this program once more, with the rights of the owner of a cache.
///
/// It does what a command does, and this process does the rest: it shows the text, asks the question, reads the inputs that the
/// command names, and writes its outputs, log and metrics. It trusts the worker with no more than that: only files that
/// the command names are read and written.
struct WorkerProcess: ~Copyable {
  /// The files of the command that the worker may ask for.
  struct Files {
    /// The files that are read.
    var inputs: Set<String> = []
    /// The files and folders that are written.
    var outputs: Set<String> = []
  }

  /// The most text for standard error, in bytes: it is kept for nobody, but somebody may collect it.
  private static let mostMessages = 64 << 20
  /// How long a worker may go on after it was told to stop, in milliseconds, before it is ended.
  private static let patience: Int64 = 5_000

  private var child: ChildProcess
  private var reader = FrameReader()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)
  private let environment: CommandEnvironment
  private let allowed: Files
  private var files: [UInt32: any OutputFile] = [:]
  private var folders: [UInt32: any OutputFolder] = [:]
  /// An input that is read in pieces.
  private final class Input {
    let file: OpenFile
    init(_ path: String) throws(FileError) { file = try OpenFile(readingInput: path) }
  }
  private var inputs: [String: Input] = [:]
  /// The errors of writing, which are reported when a file is finished.
  private var failures: [UInt32: FileError] = [:]
  private var messages = 0
  private var hasAnswered = false
  private var isToldToStop = false
  /// The time of the monotonic clock at which it is ended, in milliseconds.
  private var end: Int64?

  /// Starts a worker.
  ///
  /// - Parameter user: The user whose rights it has; `nil` for this one.
  init(
    of user: UInt32?, allowing allowed: Files, in environment: CommandEnvironment
  ) throws(CommandFailure) {
    self.environment = environment
    self.allowed = allowed
    do throws(FileError) {
      child = try ChildProcess(ofThisProgram: Self.separation(of: user, environment))
    } catch {
      throw CommandFailure(.software, kind: "internal", "cannot start a worker: \(error)")
    }
  }

  /// What the worker of another user gets of the environment: what decides how text looks, and the settings.
  private static let variables =
    [
      "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TZ", "TERM", "NO_COLOR",
      "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "SOURCE_DATE_EPOCH", "URLCACHE_ADMIN_AT",
      "http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY",
    ] + Setting.allCases.map(\.variable)

  private static func separation(
    of user: UInt32?, _ environment: CommandEnvironment
  ) -> ChildProcess.Separation {
    // The runtime of Swift would examine a crash, which takes seconds and says nothing here.
    let withoutExamination = "SWIFT_BACKTRACE=enable=no"
    guard let user else {
      let others = CurrentProcess.variables.filter { !$0.utf8.starts(with: "SWIFT_BACKTRACE".utf8) }
      return .init(arguments: [Worker.argument, "-"], variables: others + [withoutExamination])
    }
    let record = UserRecord(user)
    var variables = variables.compactMap { name in
      environment.variable(name).map { "\(name)=\($0)" }
    }
    variables.append(withoutExamination)
    if let home = record?.home { variables.append("HOME=\(home)") }
    let group = record?.group ?? UserRecord.groupOfNobody
    if let folder = stateFolder(of: user, group, environment) {
      variables.append("\(Worker.spareState)=\(folder)")
    }
    return .init(
      arguments: [Worker.argument, String(user), String(group)], variables: variables)
  }

  /// Makes a folder for the state of a user who has none; `nil` if that cannot be.
  private static func stateFolder(
    of user: UInt32, _ group: UInt32, _ environment: CommandEnvironment
  ) -> String? {
    #if os(macOS)
      let usual = "/Library/Application Support/urlcache-admin"
    #else
      let usual = "/var/lib/urlcache-admin"
    #endif
    let given = environment.variable("STATE_DIRECTORY")?.utf8.split(separator: UInt8(ascii: ":"))
      .first.map { String(decoding: Array($0), as: UTF8.self) }
    let folder = "\(given ?? usual)/users/\(user)"
    return (try? Directory.create(folder, forUser: user, group)) == nil ? nil : folder
  }

  /// Has the worker do something.
  ///
  /// - Returns: The result.
  /// - Throws: ``CommandFailure`` if it ended without one, or any error of the output.
  mutating func run(_ order: WorkerOrder) throws -> WorkerValues {
    end = order.millisecondsLeft.map {
      environment.steadyMilliseconds() + max(0, $0) + Self.patience
    }
    do throws(FileError) { try child.write(Frame.bytes(.body, 0, pieces: order.payload)) } catch {
      // What it has sent says why.
      if error.kind != .brokenPipe { throw error }
    }
    try answer([])
    var result: [UInt8] = []
    while true {
      guard let frame = try nextFrame() else { throw death() }
      if frame.kind == .done {
        result += frame.payload
        if frame.payload.count < Frame.largestPayload { return WorkerValues(result) }
      } else {
        try handle(frame)
      }
    }
  }

  /// Returns the next frame; `nil` at the end.
  private mutating func nextFrame() throws -> Frame? {
    while true {
      do throws(FrameReader.Violation) {
        if let frame = try reader.next() {
          hasAnswered = true
          return frame
        }
      } catch { throw Self.violation }
      if !isToldToStop, HeldSignals.areWaiting {
        isToldToStop = true
        child.send(HeldSignals.endingSignal)
        let patience = environment.steadyMilliseconds() + 10 * Self.patience
        end = min(end ?? patience, patience)
      }
      guard let count = try child.read(into: &buffer, milliseconds: 100) else {
        if let end, environment.steadyMilliseconds() >= end {
          child.send(HeldSignals.killingSignal)
          throw failure(
            "did not end in time, and was ended by SIGKILL", isHung: true)
        }
        continue
      }
      if count == 0 { return nil }
      reader.append(buffer[..<count])
    }
  }

  private mutating func handle(_ frame: Frame) throws {
    switch frame.kind {
    case .output: try environment.write(frame.payload)
    case .message:
      messages += frame.payload.count
      guard messages <= Self.mostMessages else { throw Self.violation }
      environment.writeMessage(String(decoding: frame.payload, as: UTF8.self))
    case .body:
      guard let file = files[frame.number] else { throw Self.violation }
      if failures[frame.number] == nil {
        do throws(FileError) { try file.write(frame.payload) } catch {
          failures[frame.number] = error
        }
      }
    case .question:
      var payload = Payload(frame.payload)
      var texts: [String] = []
      while let text = payload.next() { texts.append(String(decoding: text, as: UTF8.self)) }
      do { try answer(try reply(to: texts)) } catch let error as FileError { try answer(error) }
    default: throw Self.violation
    }
  }

  /// Does what the worker asks for.
  ///
  /// - Throws: ``FileError``, which the worker gets, or ``CommandFailure`` if it must not ask for that.
  private mutating func reply(to texts: [String]) throws -> [UInt8] {
    switch (texts.first, texts.count) {
    case ("line", 1): return Array((environment.readLine() ?? "").utf8)
    case ("piece", 3):
      let path = texts[1]
      guard let most = Int(texts[2]), (1...(1 << 20)).contains(most),
        path == "-" || allowed.inputs.contains(path)
      else { throw Self.violation }
      var piece = [UInt8](repeating: 0, count: most)
      let count: Int
      if path == "-" {
        count = try environment.readInputPiece(&piece)
      } else {
        let input = try inputs[path] ?? Input(path)
        inputs[path] = input
        count = try input.file.read(into: &piece)
      }
      return Array(piece.prefix(count))
    case ("input", 3):
      guard let limit = Int(texts[2]), texts[1] == "-" || allowed.inputs.contains(texts[1]) else {
        throw Self.violation
      }
      return try environment.inputs.text(of: texts[1], upTo: limit)
    case ("create", 4):
      let path = texts[2]
      guard let number = UInt32(texts[1]), allowed.outputs.contains(path) else {
        throw Self.violation
      }
      try CommandFailure.refusePartOfCache(at: path)
      files[number] = try environment.files.create(path, texts[3] == "replacing")
    case ("create-folder", 3):
      guard let number = UInt32(texts[1]), allowed.outputs.contains(texts[2]) else {
        throw Self.violation
      }
      try CommandFailure.refusePartOfCache(at: texts[2])
      folders[number] = try environment.files.createFolder(texts[2])
    case ("folder", 3):
      try folder(texts).makeFolder(texts[2])
    case ("file", 3): try makeFile(texts)
    case ("commit", 2), ("drop", 2):
      guard let number = UInt32(texts[1]) else { throw Self.violation }
      let (file, folder) = (files.removeValue(forKey: number), folders.removeValue(forKey: number))
      guard texts[0] == "commit" else { return [] }
      if let failure = failures.removeValue(forKey: number) { throw failure }
      try file?.commit()
      try folder?.commit()
    default: throw Self.violation
    }
    return []
  }

  /// Returns the folder that a request is about, if the path in it is one below it.
  private func folder(_ texts: [String]) throws -> any OutputFolder {
    let parts = texts[2].utf8.split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let number = UInt32(texts[1]), let folder = folders[number],
      parts.allSatisfy({ part in
        !part.isEmpty && !part.contains(0) && !part.elementsEqual(".".utf8)
          && !part.elementsEqual("..".utf8)
      })
    else { throw Self.violation }
    return folder
  }

  /// Writes a file of a folder.
  private mutating func makeFile(_ texts: [String]) throws {
    let folder = try folder(texts)
    try answer([])
    try folder.makeFile(texts[2]) { append in
      while let frame = try nextFrame() {
        if frame.kind == .question { return }
        guard frame.kind == .body else { throw Self.violation }
        try append(frame.payload)
      }
      throw death()
    }
  }

  private func answer(_ bytes: [UInt8]) throws {
    let pieces = bytes.isEmpty ? [] : Frame.bytes(.body, 0, pieces: bytes)
    try send(pieces + Frame.bytes(.end, 0, pieces: []))
  }

  private func answer(_ error: FileError) throws {
    let texts = [String(error.number), error.path].map { Array($0.utf8) }
    try send(Frame.bytes(.failure, 0, pieces: Payload.bytes(texts)))
  }

  private func send(_ bytes: [UInt8]) throws(FileError) {
    do throws(FileError) { try child.write(bytes) } catch {
      if error.kind != .brokenPipe { throw error }
    }
  }

  /// Returns the failure of a worker that ended without a result.
  private mutating func death() -> CommandFailure {
    switch child.end() {
    case .exit(ExitStatus.noPermission.rawValue) where !hasAnswered:
      return CommandFailure(
        .noPermission, kind: "no-permission",
        "cannot give up the rights of root, so nothing was done",
        hint: "run the command as the owner of the cache, or with CAP_SETUID and CAP_SETGID")
    case .exit(let status): return failure("ended with status \(status)")
    case .signal(let number): return failure("was ended by \(signalName(number))")
    case nil: return failure("does not end", isHung: true)
    }
  }

  private func failure(_ what: String, isHung: Bool = false) -> CommandFailure {
    if isHung { environment.schedule.wasHeldUp = true }
    return CommandFailure(
      .partly, kind: "worker-ended",
      "the process that worked on the cache '\(environment.record.cache)' \(what)",
      hint: Self.checkHint(environment.record.cache))
  }

  private static let violation = CommandFailure(
    .partly, kind: "worker-ended",
    "the worker process made a request that it is not allowed to make, and was stopped",
    hint: checkHint("PATH"))

  private static func checkHint(_ cache: String) -> String {
    "check the cache with: \(OptionHints.commandLine(["check", "-c", cache]))"
  }
}

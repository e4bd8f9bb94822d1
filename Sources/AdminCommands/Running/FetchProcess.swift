import Fetching
import Files
import Revalidation

/// The helper process that sends requests.
///
/// Its output is trusted no more than the origin servers behind it. If a response crashes it, as trailer fields and some
/// lengths crash Foundation, a new process takes over, and gets the pending requests again, one at a time: only the one
/// that crashes it again fails. One also takes over after many requests, because Foundation keeps some memory of each.
final class FetchProcess: Transport {
  private static let name = "urlcache-admin-fetch"

  private let path: String
  /// The number of requests to a process.
  private let mostRequests: Int
  private var child: ChildProcess
  /// The requests that the process has not finished.
  private var pending: [UInt32: Frame] = [:]
  /// The requests that were pending in a crash, and are sent again one after the other.
  private var suspects: [Frame] = []
  /// Whether the pending request is one of them.
  private var isAlone = false
  /// The number of requests that were sent to the process.
  private var sentCount = 0
  /// The requests for the next process, which starts when this one has finished its own.
  private var held: [Frame] = []
  /// Events of requests that do not come from the process, the next one last.
  private var events: [(number: UInt32, event: FetchEvent)] = []
  private var reader = FrameReader()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts the helper from the folder of this program, or from `libexec` in an installation.
  ///
  /// - Throws: ``CommandFailure``, `unavailable` if the helper is missing.
  convenience init() throws(CommandFailure) {
    let folder = CurrentProcess.programPath.map { path in
      String(
        decoding: path.utf8.prefix(upTo: path.utf8.lastIndex(of: 0x2F) ?? path.utf8.startIndex).map
        { $0 }, as: UTF8.self)
    }
    // Not from `PATH`, which could lead to another program of this name.
    let candidates = folder.map { folder in
      ["\(folder)/\(Self.name)", "\(folder)/../libexec/urlcache-admin/\(Self.name)"]
    }
    guard let path = candidates?.first(where: { (try? FileStatus.of($0))?.kind == .regular }) else {
      throw .noFetchProgram(beside: folder)
    }
    try self.init(path)
  }

  /// Starts the helper at a path.
  ///
  /// - Parameter mostRequests: The number of requests after which another process takes over.
  init(_ path: String, renewingAfter mostRequests: Int = 100_000) throws(CommandFailure) {
    (self.path, self.mostRequests) = (path, mostRequests)
    child = try Self.start(path)
  }

  private static func start(_ path: String) throws(CommandFailure) -> ChildProcess {
    do throws(FileError) { return try ChildProcess(path) } catch {
      throw CommandFailure(
        .unavailable, kind: "unavailable", "cannot run \(error)", path: path)
    }
  }

  func send(_ request: FetchRequest, as number: UInt32) throws {
    guard let frame = Frame(.request, number, request.payload) else {
      let failure = FetchFailure(.notSendable, "the stored request is too long to send")
      return events.append((number, .failure(failure)))
    }
    if sentCount < mostRequests, !isAlone { try send(frame) } else { held.append(frame) }
  }

  private func send(_ frame: Frame) throws {
    sentCount += 1
    pending[frame.number] = frame
    try write(frame)
  }

  func cancel(_ number: UInt32) throws {
    let count = held.count + suspects.count
    held.removeAll { $0.number == number }
    suspects.removeAll { $0.number == number }
    if held.count + suspects.count < count {
      events.append((number, .failure(FetchFailure(.cancelled, "the request was cancelled"))))
    } else if let frame = Frame(.cancel, number) {
      try write(frame)
    }
  }

  func receive(milliseconds: Int64) throws -> (number: UInt32, event: FetchEvent)? {
    while true {
      if let event = events.popLast() { return event }
      if let frame = try nextFrame() {
        // The helper is trusted no more than the servers, so each of its frames is checked.
        guard let event = FetchEvent(frame) else { throw Self.notOfTheProtocol }
        if event.isLast {
          pending[frame.number] = nil
          if pending.isEmpty { try sendNext() }
        }
        return (frame.number, event)
      }
      let wait = Int32(clamping: max(0, milliseconds))
      guard let count = try child.read(into: &buffer, milliseconds: wait) else { return nil }
      if count > 0 { reader.append(buffer[..<count]) } else { try startAgain() }
    }
  }

  /// Sends the next request that waited for the pending ones, or all that were held.
  private func sendNext() throws {
    isAlone = !suspects.isEmpty
    if isAlone { return try send(suspects.removeFirst()) }
    if held.isEmpty { return }
    if sentCount >= mostRequests { try renew() }
    let frames = held
    held = []
    for frame in frames { try send(frame) }
  }

  /// Starts another process.
  private func renew() throws {
    (reader, sentCount) = (FrameReader(), 0)
    child = try Self.start(path)
  }

  /// Restarts the process after a crash; one that exited by itself would do so again.
  private func startAgain() throws {
    guard !pending.isEmpty, child.hasBeenKilled() else {
      throw Self.broken("it exited unexpectedly")
    }
    if pending.count == 1, let number = pending.keys.first {
      let failure = FetchFailure(
        .other,
        "'\(Self.name)' crashed on this response, as Foundation does on trailer fields, for example"
      )
      events.append((number, .failure(failure)))
    } else {
      // It is unknown which response caused the crash.
      let frames = pending.values.sorted { $0.number < $1.number }
      suspects += frames
      events += frames.map { ($0.number, .restart) }
    }
    pending = [:]
    // The last frame of the crashed process may be incomplete.
    try renew()
    try sendNext()
  }

  private func nextFrame() throws(CommandFailure) -> Frame? {
    do throws(FrameReader.Violation) { return try reader.next() } catch {
      throw Self.notOfTheProtocol
    }
  }

  private static var notOfTheProtocol: CommandFailure {
    broken("it violated the protocol")
  }

  private func write(_ frame: Frame) throws {
    do throws(FileError) { try child.write(frame.bytes) } catch {
      // Reading its output will show why it ended.
      if error.kind == .brokenPipe { return }
      throw Self.broken("it accepts no requests: \(error.reason)")
    }
  }

  private static func broken(_ what: String) -> CommandFailure {
    CommandFailure(.software, kind: "internal", "cannot use '\(name)': \(what)")
  }
}

extension CommandFailure {
  /// The helper that sends requests is missing.
  static func noFetchProgram(beside folder: String?) -> CommandFailure {
    CommandFailure(
      .unavailable, kind: "unavailable",
      "cannot find 'urlcache-admin-fetch', which sends the requests",
      hint: folder.map {
        "install the package 'urlcache-admin-fetch', or copy the program to '\($0)'"
      })
  }
}

extension FetchEvent {
  /// Whether this is the last event of a request.
  fileprivate var isLast: Bool {
    switch self {
    case .head, .body, .restart: false
    case .end, .failure: true
    }
  }
}

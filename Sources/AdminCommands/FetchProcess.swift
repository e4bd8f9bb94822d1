import Fetching
import Files
import Revalidation

/// The program that sends requests, which runs beside this one and ends with it.
///
/// What it says is not trusted more than the origins that it speaks for.
final class FetchProcess: Transport {
  private static let name = "urlcache-admin-fetch"

  private let child: ChildProcess
  private var reader = FrameReader()
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Starts the program that lies beside this one, or where an installation has it.
  ///
  /// - Throws: ``CommandFailure``, `unavailable` if it is not there.
  init() throws(CommandFailure) {
    let folder = CurrentProcess.programPath.map { path in
      String(
        decoding: path.utf8.prefix(upTo: path.utf8.lastIndex(of: 0x2F) ?? path.utf8.startIndex).map
        { $0 }, as: UTF8.self)
    }
    let candidates = folder.map { folder in
      ["\(folder)/\(Self.name)", "\(folder)/../libexec/urlcache-admin/\(Self.name)"]
    }
    guard let path = candidates?.first(where: { (try? FileStatus.of($0))?.kind == .regular }) else {
      throw .noFetchProgram(beside: folder)
    }
    do throws(FileError) { child = try ChildProcess(path) } catch {
      throw CommandFailure(
        .unavailable, kind: "unavailable", "cannot run \(error)", path: path)
    }
  }

  func send(_ request: FetchRequest, as number: UInt32) throws {
    guard let frame = Frame(.request, number, request.payload) else {
      throw CommandFailure(.data, kind: "too-large", "a stored request is too long to be sent")
    }
    try write(frame)
  }

  func cancel(_ number: UInt32) throws {
    if let frame = Frame(.cancel, number) { try write(frame) }
  }

  func receive(milliseconds: Int64) throws -> (number: UInt32, event: FetchEvent)? {
    while true {
      if let frame = try nextFrame() {
        guard let event = FetchEvent(frame) else { throw Self.notOfTheProtocol }
        return (frame.number, event)
      }
      let wait = Int32(clamping: max(0, milliseconds))
      guard let count = try child.read(into: &buffer, milliseconds: wait) else { return nil }
      guard count > 0 else { throw Self.broken("it ended too early") }
      reader.append(buffer[..<count])
    }
  }

  private func nextFrame() throws(CommandFailure) -> Frame? {
    do throws(FrameReader.Violation) { return try reader.next() } catch {
      throw Self.notOfTheProtocol
    }
  }

  private static var notOfTheProtocol: CommandFailure {
    broken("it does not keep to the protocol")
  }

  private func write(_ frame: Frame) throws {
    do throws(FileError) { try child.write(frame.bytes) } catch {
      // A broken pipe of the output would be no failure.
      throw Self.broken("it takes no requests: \(error.reason)")
    }
  }

  private static func broken(_ what: String) -> CommandFailure {
    CommandFailure(.software, kind: "internal", "'\(name)' cannot be used: \(what)")
  }
}

extension CommandFailure {
  /// There is no program that sends requests.
  static func noFetchProgram(beside folder: String?) -> CommandFailure {
    CommandFailure(
      .unavailable, kind: "unavailable",
      "'urlcache-admin-fetch', which sends the requests, is not there",
      hint: folder.map { "put it into '\($0)', or '../libexec/urlcache-admin' from there" })
  }
}

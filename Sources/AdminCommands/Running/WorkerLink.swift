import Fetching
import Files
import Synchronization

/// The two pipes by which a worker talks to the process that has started it. It has nothing else.
final class WorkerLink: Sendable {
  private struct State {
    var reader = FrameReader()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var lastNumber: UInt32 = 0
  }

  private let state = Mutex(State())
  /// Held while frames are written: several threads may write, and a frame must not begin within another one.
  private let writing = Mutex(())

  /// Reads the order.
  func order() throws -> WorkerOrder {
    try state.withLock { state in
      guard case .success(let bytes) = try Self.answer(&state),
        let order = WorkerOrder(payload: bytes)
      else { throw WorkerFailure.protocolViolated }
      return order
    }
  }

  /// Sends text or a result.
  func send(_ kind: Frame.Kind, _ bytes: [UInt8]) throws(FileError) {
    try write(Frame.bytes(kind, 0, pieces: bytes))
  }

  /// Sends the next bytes of a file that was created.
  func send(_ bytes: [UInt8], ofFile number: UInt32) throws(FileError) {
    try write(Frame.bytes(.body, number, pieces: bytes))
  }

  private func write(_ frames: [UInt8]) throws(FileError) {
    let result: Result<Void, FileError> = writing.withLock { _ in
      do throws(FileError) {
        return .success(try StandardStream.output.write(frames))
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Asks for something.
  ///
  /// - Returns: The answer.
  /// - Throws: ``FileError``, that of the other process if it could not do what was asked for.
  func ask(_ texts: [String]) throws(FileError) -> [UInt8] {
    let request = Payload.bytes(texts.map { Array($0.utf8) })
    let answer: Result<[UInt8], FileError> = state.withLock { state in
      do {
        try write(Frame.bytes(.question, 0, pieces: request))
        return try Self.answer(&state)
      } catch { return .failure(error as? FileError ?? .withoutReader(at: "the pipe")) }
    }
    return try answer.get()
  }

  /// Returns a number for a file.
  func number() -> UInt32 {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Reads an answer: frames with bytes, and one that ends them or has the number and the path of an error.
  private static func answer(_ state: inout State) throws -> Result<[UInt8], FileError> {
    var bytes: [UInt8] = []
    while true {
      while let frame = try state.reader.next() {
        switch frame.kind {
        case .body: bytes += frame.payload
        case .end: return .success(bytes)
        case .failure:
          var payload = Payload(frame.payload)
          guard let number = payload.nextNumber(), let path = payload.next() else {
            throw WorkerFailure.protocolViolated
          }
          return .failure(
            FileError(Int32(clamping: number), at: String(decoding: path, as: UTF8.self)))
        default: throw WorkerFailure.protocolViolated
        }
      }
      let count = try StandardStream.input.read(into: &state.buffer)
      guard count > 0 else { throw FileError.withoutReader(at: "the pipe") }
      state.reader.append(state.buffer[..<count])
    }
  }
}

/// A file that the process that has started the worker creates.
final class RemoteFile: OutputFile {
  private let link: WorkerLink
  private let number: UInt32
  private var isOpen = true

  init(_ path: String, replacing: Bool, over link: WorkerLink) throws(FileError) {
    (self.link, number) = (link, link.number())
    _ = try link.ask(["create", String(number), path, replacing ? "replacing" : "new"])
  }

  deinit { if isOpen { _ = try? link.ask(["drop", String(number)]) } }

  func write(_ bytes: [UInt8]) throws(FileError) { try link.send(bytes, ofFile: number) }

  func commit() throws(FileError) {
    isOpen = false
    _ = try link.ask(["commit", String(number)])
  }
}

/// A folder that the process that has started the worker creates.
final class RemoteFolder: OutputFolder {
  private let link: WorkerLink
  private let number: UInt32
  private var isOpen = true

  init(_ path: String, over link: WorkerLink) throws(FileError) {
    (self.link, number) = (link, link.number())
    _ = try link.ask(["create-folder", String(number), path])
  }

  deinit { if isOpen { _ = try? link.ask(["drop", String(number)]) } }

  func makeFolder(_ path: String) throws(FileError) {
    _ = try link.ask(["folder", String(number), path])
  }

  func makeFile(
    _ path: String, _ write: (_ append: ([UInt8]) throws -> Void) throws -> Void
  ) throws {
    _ = try link.ask(["file", String(number), path])
    try write { try link.send($0, ofFile: number) }
    _ = try link.ask(["end", String(number)])
  }

  func commit() throws(FileError) {
    isOpen = false
    _ = try link.ask(["commit", String(number)])
  }
}

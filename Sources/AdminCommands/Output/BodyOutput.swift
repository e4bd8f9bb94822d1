import Files

/// The destination of `body`: a new file, or standard output.
///
/// The file is created with the first bytes, so that an unreadable body leaves none.
struct BodyOutput: ~Copyable {
  private let path: String?
  private let isForced: Bool
  private let environment: CommandEnvironment
  private var file: (any OutputFile)?
  private var isEmpty = true

  /// - Parameters:
  ///   - path: The path of the file; `nil` or `-` for standard output.
  ///   - isForced: Whether to replace a file, and to write binary data to a terminal.
  init(path: String?, isForced: Bool, _ environment: CommandEnvironment) {
    self.path = path == "-" ? nil : path
    self.isForced = isForced
    self.environment = environment
  }

  /// Writes the next bytes.
  mutating func write(_ piece: ArraySlice<UInt8>) throws {
    if piece.isEmpty { return }
    try begin(with: piece)
    if file != nil {
      try file?.write(Array(piece))
    } else {
      try environment.write(Array(piece))
    }
  }

  /// Finishes writing; creates the file of an empty body.
  mutating func finish() throws {
    try begin(with: [])
    do throws(FileError) { try file?.commit() } catch {
      throw Self.failure(error, path ?? "")
    }
  }

  private mutating func begin(with piece: ArraySlice<UInt8>) throws(CommandFailure) {
    guard isEmpty else { return }
    isEmpty = false
    if let path {
      do throws(FileError) { file = try environment.files.create(path, isForced) } catch {
        throw Self.failure(error, path)
      }
      // The first piece decides, as nothing can be taken back later.
    } else if environment.isOutputTerminal, !isForced, !Self.isText(piece) {
      throw CommandFailure.usage(
        "refusing to write a binary body to the terminal",
        hint: "write it to a file with '-o FILE', or use '--force'")
    }
  }

  private static func failure(_ error: FileError, _ path: String) -> CommandFailure {
    CommandFailure(
      .cannotCreate, kind: "cannot-create", "cannot create \(error)",
      hint: error.kind == .exists ? "use another name, or replace it with '--force'" : nil,
      path: path)
  }

  /// Whether a terminal can show the beginning of a body: UTF-8 without control characters except whitespace.
  private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
    let isControl = { (byte: UInt8) in byte < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D].contains(byte) }
    guard !bytes.contains(where: { isControl($0) || $0 == 0x7F }) else { return false }
    // The bytes may end in the middle of a character.
    let whole = bytes.dropLast(bytes.reversed().prefix(3).prefix { $0 & 0xC0 == 0x80 }.count)
    let end = whole.last.map { $0 >= 0xC0 } ?? false ? whole.dropLast() : whole
    return String(validating: end, as: UTF8.self) != nil
      || String(validating: bytes, as: UTF8.self) != nil
  }
}

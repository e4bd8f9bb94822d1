import Administration
import ArgumentParser
import Files
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin body`: writes the stored body of one entry.
  struct Body: AdminCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the stored body of an entry, byte for byte.",
      discussion: """
        Bodies are stored after content codings (gzip, br) were removed.

        EXIT STATUS
          0 done · 1 no such entry, or its body is missing · 64 · 65 · 66 · 73 · 74 · 75 · 77
        """)

    @Argument(help: "The URL or the id of one entry.")
    var entry: String

    @OptionGroup var cache: CacheOptions

    @Option(
      name: [.short, .long],
      help: ArgumentHelp(
        "Write to this file, which must not exist yet; '-' is the output.",
        valueName: "file"))
    var output: String?

    @Flag(help: "Write to a terminal what is not text, and over a file that exists.")
    var force = false

    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let id = try EntryNames.Name(operand: entry).resolved(in: source)
      try source.withBody(of: id) { reader in
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var count = try reader.read(into: &buffer)
        if let output, output != "-" {
          let file = try create(output)
          while count > 0 {
            try file.write(Array(buffer[..<count]))
            count = try reader.read(into: &buffer)
          }
          return
        }
        if environment.isOutputTerminal, !force, !isText(buffer[..<count]) {
          throw CommandFailure.usage(
            "the body is not text, and the output is a terminal",
            hint: "write it to a file with '-o FILE', or insist with '--force'")
        }
        while count > 0 {
          try environment.write(Array(buffer[..<count]))
          count = try reader.read(into: &buffer)
        }
      }
      try source.finish()
      return .done
    }

    private func create(_ path: String) throws(CommandFailure) -> OpenFile {
      do throws(FileError) { return try OpenFile(creating: path, replacing: force) } catch {
        throw CommandFailure(
          .cannotCreate, kind: "cannot-create", "cannot create \(error)",
          hint: error.kind == .exists ? "take another name, or replace it with '--force'" : nil,
          path: path)
      }
    }

    /// Whether a terminal can show the beginning of a body: UTF-8 without control characters but for
    /// white space.
    private func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
      let isControl = { (byte: UInt8) in byte < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D].contains(byte) }
      guard !bytes.contains(where: { isControl($0) || $0 == 0x7F }) else { return false }
      // The piece may end inside of a character.
      let whole = bytes.dropLast(bytes.reversed().prefix(3).prefix { $0 & 0xC0 == 0x80 }.count)
      let end = whole.last.map { $0 >= 0xC0 } ?? false ? whole.dropLast() : whole
      return String(validating: end, as: UTF8.self) != nil
        || String(validating: bytes, as: UTF8.self) != nil
    }
  }
}

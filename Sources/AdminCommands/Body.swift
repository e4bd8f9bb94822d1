import Administration
import ArgumentParser
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin body`: writes the stored body of one entry.
  struct Body: AdminCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the stored body of an entry, byte for byte.",
      discussion: """
        Bodies are stored after content codings (gzip, br) were removed.

        EXIT STATUS
          0 done · 1 no such entry, or its body is missing · 64 · 65 also a body that is not JSON
          with '--pretty' · 66 · 73 · 74 · 75 · 77
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

    @Flag(help: "Indent JSON; what is not JSON is an error, and nothing is written.")
    var pretty = false

    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      let source = try cache.open(in: environment)
      let id = try EntryNames.Name(operand: entry).resolved(in: source)
      var output = BodyOutput(path: output, isForced: force, environment)
      if pretty {
        // All is looked at before any is written.
        try indent(id, source) { _ in }
        try indent(id, source) { try output.write($0) }
      } else {
        try read(id, source) { try output.write($0) }
      }
      try output.finish()
      try source.finish()
      return .done
    }

    /// Passes on the stored body, piece by piece.
    private func read(
      _ id: StoredResponse.ID, _ source: any ResponseSource,
      _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
      try source.withBody(of: id) { reader in
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var count = try reader.read(into: &buffer)
        while count > 0 {
          try body(buffer[..<count])
          count = try reader.read(into: &buffer)
        }
      }
    }

    /// Passes on the body as indented JSON, piece by piece.
    private func indent(
      _ id: StoredResponse.ID, _ source: any ResponseSource,
      _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws {
      var indenter = JSONIndenter()
      var text = TextBuffer()
      do {
        try read(id, source) { piece in
          // Small bites, as each byte may come with an indentation of a kilobyte.
          var rest = piece
          while !rest.isEmpty {
            try indenter.append(rest.prefix(4_096), into: &text)
            rest = rest.dropFirst(4_096)
            if text.bytes.count >= 1 << 16 || rest.isEmpty {
              try body(text.bytes[...])
              text.removeAll(keepingCapacity: true)
            }
          }
        }
        try indenter.finish(into: &text)
      } catch let error as JSONSyntaxError {
        throw CommandFailure(
          .data, kind: "not-json", "the body is not JSON: \(error)",
          hint: "write it as it is, without '--pretty'")
      }
      try body(text.bytes[...])
    }
  }
}

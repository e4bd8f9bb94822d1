import Administration
import ArgumentParser
import Bytes
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin body`: writes the stored body of one entry.
  struct Body: AllCachesCommand, CacheOperandCommand {
    static let configuration = CommandConfiguration(
      commandName: "body",
      abstract: "Write the body of an entry to standard output or a file.",
      usage: "urlcache-admin body [<options>] [<cache>] <url-or-id>",
      discussion: """
        URLCache stores bodies decoded, even if they were sent with gzip or br. A file
        that is itself compressed, or that the server did not declare as compressed,
        is written unchanged. A Foundation cache ignores the scheme and the query of a
        URL, and so does this command; a note points that out.
        """)

    @OptionGroup var operands: CacheOperand

    // Optional, as the first operand may be this one.
    @Argument(help: "The URL or id of one entry.")
    var entry: String?

    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions

    @Option(
      name: [.short, .long],
      help: ArgumentHelp(
        "Write to this new file; '-' is standard output.",
        valueName: "file"),
      completion: .file())
    var output: String?

    @Flag(help: "Allow binary data on a terminal, and replace an existing file.")
    var force = false

    @Flag(
      help:
        "Decode a body that is still compressed with gzip, zstd, br or deflate; fail if it is damaged."
    )
    var decoded = false

    @Option(
      help: ArgumentHelp(
        "The maximum size of a decoded body (default: 1GiB).", valueName: "size"),
      transform: parseSize)
    var decodedLimit: ByteCount?

    @Flag(help: "Indent JSON; a body that is not JSON is an error.")
    var pretty = false

    static let takesEntries = true

    var outputs: [String] { output.map { [$0] } ?? [] }
    var writesJSON: Bool { false }

    var entryOperands: [String] { entry.map { [$0] } ?? [] }

    mutating func take(entryOperands: [String]) throws(CommandFailure) {
      guard entryOperands.count < 2 else {
        throw .usage(
          "'body' writes one entry, but \(entryOperands.count) are given",
          hint: "write several bodies with 'urlcache-admin export --format files'")
      }
      entry = entryOperands.first
    }

    func validate() throws {
      if decodedLimit != nil, !decoded {
        throw ValidationError("'--decoded-limit' needs '--decoded'.")
      }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      guard let entry else {
        throw CommandFailure.usage(
          "no entry given",
          hint: "name its URL or id: "
            + OptionHints.commandLine(environment.words, adding: ["1"]))
      }
      let source = try cache.open(in: environment)
      // A Foundation cache may answer a URL with the entry of another. Writing that without a word
      // could show the data of another user.
      let id = try EntryNames.Name(operand: entry, in: environment).resolved(in: source) { lookup in
        environment.note(lookup.words(SecretPolicy()))
      }
      let pieces = BodyPieces(
        source: source, id: id, decodedLimit: decoded ? decodedLimit ?? ByteCount(1 << 30) : nil,
        isIndented: pretty)
      // Decode everything once before writing, so that a body with an error leaves no partial output.
      if pieces.needsLook { try pieces.forEach { _ in } }
      var output = BodyOutput(path: output, isForced: force, environment)
      let wasCoded = try pieces.forEach { try output.write($0) }
      try output.finish()
      // After the last byte, as only now it is known whether the cache changed meanwhile.
      try source.finish()
      // A note and no error: a script can decode whatever it finds, without knowing which bodies
      // are still coded.
      if decoded, !wasCoded {
        environment.note("the body has no content coding, so it was written unchanged")
      }
      return .done
    }
  }
}

import ArgumentParser
import Bytes
import HTTPCaching
import ResponseStorage

/// The options for leaving secrets out of an archive.
struct RedactionOptions: ParsableArguments {
  @Flag(help: "Include cookies, tokens and request bodies; native archives always do.")
  var withCredentials = false

  @Flag(
    help: """
      In every format, leave out what 'list' masks (cookies, tokens in header fields and URLs, \
      request bodies) and properties that apps attached.
      """)
  var redact = false

  @Flag(help: "Also leave out response bodies; implies '--redact'.")
  var redactBodies = false

  @Option(
    help: ArgumentHelp(
      "Also leave out these header fields; implies '--redact'.", valueName: "name,…"))
  var redactHeader: [String] = []

  @Option(
    help: ArgumentHelp(
      "Also leave out the values of these query parameters; implies '--redact'.",
      valueName: "name,…"))
  var redactQuery: [String] = []

  func validate() throws {
    for (option, values) in [("--redact-header", redactHeader), ("--redact-query", redactQuery)]
    where values.contains(where: { Self.names([$0]).contains(ByteString([])) }) {
      throw ValidationError("'\(option)' needs a name.")
    }
    if let name = Self.names(redactHeader).sorted().first(where: { !FieldName($0.bytes).isValid }) {
      throw ValidationError(
        "'--redact-header': '\(printable(String(decoding: name.bytes, as: UTF8.self)))' is not a header field name."
      )
    }
    // Refused and not resolved by an order: either reading of it could give away what the user
    // wanted to keep secret.
    guard !withCredentials || !redactsAll else {
      throw ValidationError("'--with-credentials' and '--redact' cannot be combined.")
    }
  }

  /// Whether to leave out everything that a list masks.
  var redactsAll: Bool {
    redact || redactBodies || !redactHeader.isEmpty || !redactQuery.isEmpty
  }

  /// Returns the filter that removes credentials; `nil` if they are kept.
  ///
  /// - Parameter isNative: Whether the format keeps entries complete by default.
  func filter(isNative: Bool) -> CredentialFilter? {
    if withCredentials || isNative && !redactsAll { return nil }
    var filter = CredentialFilter()
    filter.fieldNames.formUnion(Self.names(redactHeader))
    // A digest would prove that a body is one that somebody else has, although it was left out.
    if redactBodies { filter.fieldNames.formUnion(CredentialFilter.bodyDigestFields) }
    filter.queryNames = Self.names(redactQuery)
    filter.includesTokens = redactsAll
    return filter
  }

  /// Returns the names in comma-separated lists, in lowercase.
  private static func names(_ lists: [String]) -> Set<ByteString> {
    Set(
      lists.flatMap { list in
        list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
          ByteString(Array($0)).asciiLowercased
        }
      })
  }
}

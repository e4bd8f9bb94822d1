import ArgumentParser
import ResponseStorage

/// What is left out of an archive, as it may be secret.
struct RedactionOptions: ParsableArguments {
  @Flag(help: "Keep cookies, tokens and request bodies; native archives always do.")
  var withCredentials = false

  @Flag(help: "Leave them out of a native archive too, and what apps attached.")
  var redact = false

  @Option(
    help: ArgumentHelp(
      "Leave this header field out, too; implies '--redact'.", valueName: "name"))
  var redactHeader: [String] = []

  @Option(
    help: ArgumentHelp(
      "Leave the value of this query parameter out of URLs, too; implies '--redact'.",
      valueName: "name"))
  var redactQuery: [String] = []

  func validate() throws {
    guard !withCredentials || !redact && redactHeader.isEmpty && redactQuery.isEmpty else {
      throw ValidationError("'--with-credentials' keeps what '--redact' leaves out.")
    }
  }

  /// What leaves credentials out; `nil` if they are kept.
  ///
  /// - Parameter isNative: Whether the format keeps all of an entry unless somebody says otherwise.
  func filter(isNative: Bool) -> CredentialFilter? {
    if withCredentials { return nil }
    if isNative, !redact, redactHeader.isEmpty, redactQuery.isEmpty { return nil }
    var filter = CredentialFilter()
    filter.fieldNames.formUnion(redactHeader.map { ByteString($0).asciiLowercased })
    filter.queryNames = Set(redactQuery.map { ByteString($0).asciiLowercased })
    return filter
  }
}

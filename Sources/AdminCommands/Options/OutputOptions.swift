import ArgumentParser
import Rendering

/// What secrets an output may contain.
struct SecretOptions: ParsableArguments {
  @Flag(help: "Show passwords, cookies, tokens and request bodies instead of '***'.")
  var showSecrets = false

  // The name that is made of the property's is `--redact-ur-ls`.
  @Flag(
    name: .customLong("redact-urls"),
    help: "Mask secrets in URLs and keys in the formats for programs too.")
  var redactURLs = false

  var policy: SecretPolicy { SecretPolicy(showSecrets: showSecrets, redactURLs: redactURLs) }
}

/// Collects what is rendered, and writes it in large pieces.
struct OutputBuffer {
  /// What was not yet written.
  var text = TextBuffer()
  private let environment: CommandEnvironment

  init(_ environment: CommandEnvironment) {
    self.environment = environment
  }

  /// Writes out what there is if it is much.
  mutating func flushIfLarge() throws {
    if text.bytes.count >= 1 << 16 { try flush() }
  }

  /// Writes out what there is.
  mutating func flush() throws {
    guard !text.bytes.isEmpty else { return }
    try environment.write(text.bytes)
    text.removeAll(keepingCapacity: true)
  }
}

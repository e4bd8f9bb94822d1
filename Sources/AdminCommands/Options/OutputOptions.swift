import ArgumentParser
import Rendering

/// The options for secrets in the output.
struct SecretOptions: ParsableArguments {
  @Flag(help: "Show passwords, cookies, tokens and request bodies instead of '***'.")
  var showSecrets = false

  // The name derived from the property would be `--redact-ur-ls`.
  @Flag(
    name: .customLong("redact-urls"),
    help: "Also mask secrets in URLs and keys in machine-readable formats.")
  var redactURLs = false

  var policy: SecretPolicy { SecretPolicy(showSecrets: showSecrets, redactURLs: redactURLs) }
}

/// A buffer for rendered text, which is written in large pieces.
struct OutputBuffer {
  /// The bytes above which text is written. A pipe on Linux holds 64 KiB, so larger pieces would wait for the reader anyway.
  static let pieceLength = 1 << 16

  /// The text that has not been written.
  var text: TextBuffer
  private let environment: CommandEnvironment

  init(_ environment: CommandEnvironment) {
    self.environment = environment
    text = TextBuffer(style: environment.outputStyle)
  }

  /// Writes the text if there is much of it.
  mutating func flushIfLarge() throws { try environment.flushIfLarge(&text) }

  /// Writes the text.
  mutating func flush() throws { try environment.flush(&text) }
}

extension CommandEnvironment {
  /// Writes a text and empties it, if there is much of it.
  func flushIfLarge(_ text: inout TextBuffer) throws {
    if text.bytes.count >= OutputBuffer.pieceLength { try flush(&text) }
  }

  fileprivate func flush(_ text: inout TextBuffer) throws {
    guard !text.bytes.isEmpty else { return }
    try write(text.bytes)
    text.removeAll(keepingCapacity: true)
  }
}

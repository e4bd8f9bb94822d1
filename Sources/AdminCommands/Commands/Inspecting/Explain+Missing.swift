import Administration
import Bytes
import HTTPCaching
import Rendering
import ResponseStorage

extension URLCacheAdmin.Explain {
  /// The maximum size of a response head, in bytes; enough for many cookies.
  private static let largestHead = 1 << 20

  /// Explains why there is no entry for a URL.
  func explainMissing(
    _ url: ByteString, _ source: any ResponseSource, _ inquiry: Inquiry,
    _ environment: CommandEnvironment
  ) throws -> ExitStatus {
    // Every text is missing from a cache. Without a scheme it is more likely a path or an id than a
    // URL.
    guard CanonicalURL.scheme(of: url) != nil else {
      throw CommandFailure.usage(
        "'\(whyMissing ?? "")' is not a URL", hint: "use a full URL such as 'https://example.com/a'"
      )
    }
    let head = try headersFrom.map { try readHead(in: $0, environment) }
    let missing = try MissingResponse(of: url, head: head, in: source, asking: inquiry)
    try source.finish()
    let renderer = MissingResponseRenderer(secrets: secrets.policy)
    var output = OutputBuffer(environment)
    switch format {
    case .table: renderer.appendText(missing, into: &output.text)
    case .json, .ndjson: renderer.appendJSON(missing, into: &output.text)
    }
    try output.flush()
    // The question was answered: it is not missing.
    if !missing.present.isEmpty { return .done }
    return switch missing.wouldBeStored {
    case true?: .done
    case false?: .no
    case nil: .partly
    }
  }

  private func readHead(
    in name: String, _ environment: CommandEnvironment
  ) throws -> ResponseHead {
    let bytes = try environment.inputs.text(of: name, upTo: Self.largestHead)
    guard bytes.count <= Self.largestHead, let head = ResponseHead(bytes) else {
      throw CommandFailure(
        .data, kind: "not-a-head", "'\(name)' does not start with response headers",
        hint: "save them with 'curl -sI URL > FILE'", path: name)
    }
    return head
  }
}

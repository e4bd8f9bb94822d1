public import Administration
public import ArgumentParser
import Bytes
import HTTPCaching
import ResponseStorage

/// The options for the request that is explained.
struct InquiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The request policy, by name or by its number on Apple systems.",
      valueName: "name|number"),
    completion: .list(RequestCachePolicy.names.map(\.name)),
    transform: parsePolicy)
  var policy = RequestCachePolicy.useProtocolCachePolicy

  @Option(
    help: ArgumentHelp(
      "A request header field to send instead of the stored one; without a value, it is not sent.",
      valueName: "name: value"),
    transform: parseField)
  var requestHeader: [FieldLine] = []

  @Option(
    help: ArgumentHelp(
      "The rules to apply: apple, foundation, rfc9111 (default: those of the cache's format).",
      valueName: "platform"))
  var platform: CachePlatform?

  @Option(
    help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
    transform: parseSize)
  var capacity: ByteCount?

  /// Returns the inquiry about the entries of a store.
  func resolved(
    at now: Timestamp, of source: any ResponseSource, _ expiryRules: [UserInfoExpiry.Rule]
  ) -> Inquiry {
    var inquiry = Inquiry(
      now: now, platform: platform ?? CachePlatform(writing: source.description.format))
    inquiry.policy = policy
    inquiry.fields = requestHeader
    inquiry.capacityBytes = capacity
    inquiry.expiryRules = expiryRules
    return inquiry
  }
}

extension CachePlatform: ExpressibleByArgument {}

/// Parses a policy: one of the seven names, or a number.
func parsePolicy(_ text: String) throws -> RequestCachePolicy {
  if let policy = RequestCachePolicy(name: text) { return policy }
  if let policy = Int(text).flatMap({ RequestCachePolicy(rawValue: $0) }) { return policy }
  throw ValidationError(
    "Unknown request policy '\(printable(text))'. Use one of: "
      + RequestCachePolicy.names.map { "\($0.name) (\($0.policy.rawValue))" }
      .joined(separator: ", ") + ".")
}

/// Parses a header field: `Name: value`.
func parseField(_ text: String) throws -> FieldLine {
  let bytes = Array(text.utf8)
  guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
    FieldName(bytes[..<colon]).isValid,
    // A line end would be another header field (RFC 9112 §11.1).
    !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F })
  else {
    throw ValidationError(
      "'\(printable(text))' is not a header field. Use for example 'Accept-Language: de'.")
  }
  let line = FieldLine(name: Array(bytes[..<colon]), value: Array(bytes[(colon + 1)...]))
  let value = FieldSection([line]).firstValue(of: FieldName(line.name)) ?? []
  return FieldLine(name: line.name, value: value)
}

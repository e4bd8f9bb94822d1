public import Administration
public import ArgumentParser
import Bytes
import HTTPCaching
import ResponseStorage

/// The options for the request that is explained.
struct InquiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The request policy, by name or by its number on Apple systems (default:"
        + " useProtocolCachePolicy).",
      valueName: "name|number"),
    completion: .list(RequestCachePolicy.names.map(\.name)),
    transform: parsePolicy)
  var policy: RequestCachePolicy?

  @Option(
    help: ArgumentHelp(
      "For WebKit, the kind of request, instead of a policy: new, subresource, reload, back.",
      valueName: "kind"))
  var navigation: WebKitNavigation?

  @Option(
    help: ArgumentHelp(
      "The platform to explain for: apple, foundation, webkit, rfc9111 (default: the platform of the"
        + " cache).", valueName: "platform"))
  var platform: CachePlatform?

  @Option(
    help: ArgumentHelp("The disk capacity that the app set.", valueName: "size"),
    transform: parseSize)
  var capacity: ByteCount?

  /// Returns the inquiry about the entries of a store.
  ///
  /// - Parameter fields: The header fields to send instead of the stored ones.
  /// - Throws: ``CommandFailure`` if `--navigation` does not fit.
  func resolved(
    at now: Timestamp, of source: any ResponseSource, _ expiryRules: [UserInfoExpiry.Rule],
    sending fields: [FieldLine]
  ) throws(CommandFailure) -> Inquiry {
    var inquiry = Inquiry(
      now: now, platform: platform ?? CachePlatform(writing: source.description.format))
    if let navigation {
      guard policy == nil else {
        throw .usage("'--navigation' and '--policy' cannot be combined", hint: "give one of them")
      }
      guard inquiry.platform == .webkit else {
        throw .usage(
          "'--navigation' applies only to WebKit, but the platform is '\(inquiry.platform.rawValue)'",
          hint: "use '--policy', or add '--platform webkit'")
      }
      inquiry.navigation = navigation
    }
    inquiry.policy = policy ?? navigation?.policy ?? .useProtocolCachePolicy
    inquiry.fields = fields
    inquiry.capacityBytes = capacity
    inquiry.expiryRules = expiryRules
    return inquiry
  }
}

extension CachePlatform: ExpressibleByArgument {}

extension WebKitNavigation: ExpressibleByArgument {}

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

/// A value of `--request-header`: a criterion for the stored requests, or for `explain` a field to send.
enum RequestHeader {
  case criterion(HeaderCriterion)
  case field(FieldLine, text: String)

  /// Parses `NAME`, `NAME=PATTERN` or `NAME: VALUE`.
  init(parsing text: String) throws {
    // A name has neither, so the first one decides.
    let sign = text.utf8.first { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }
    self =
      sign == UInt8(ascii: ":")
      ? .field(try parseField(text), text: text) : .criterion(try parseHeader(text))
  }

  /// The criterion.
  ///
  /// - Throws: ``CommandFailure`` for a field to send.
  var criterion: HeaderCriterion {
    get throws(CommandFailure) {
      switch self {
      case .criterion(let criterion): return criterion
      case .field(_, let text):
        throw .usage(
          "'--request-header' selects entries here, but '\(printable(text))' is a header field to send",
          hint: "use 'NAME' or 'NAME=PATTERN'; 'explain' takes 'NAME: VALUE'")
      }
    }
  }
}

extension [RequestHeader] {
  /// The fields to send.
  var fields: [FieldLine] {
    compactMap { if case .field(let line, _) = $0 { line } else { nil } }
  }
}

/// A bound for the time when an entry was stored: a time, or a duration before now.
enum TimeBound {
  /// A time.
  case time(WrittenTime)
  /// A duration before now, in seconds.
  case ago(Double)
  /// The midnight at which `today` or `yesterday` began.
  case day(String)

  /// Parses a time or a duration.
  init(parsing text: String) throws {
    if ["today", "yesterday"].contains(text) {
      self = .day(text)
    } else if let seconds = try? WrittenValue.duration(text) {
      self = .ago(seconds)
    } else {
      self = .time(try parseTime(text))
    }
  }

  /// Returns the time of the bound.
  func resolved(at now: Timestamp) throws(CommandFailure) -> WrittenTime {
    switch self {
    case .time(let time): return time
    case .ago(let seconds): return WrittenTime(seconds, before: now)
    case .day(let word):
      do throws(WrittenValueError) { return try WrittenTime(day: word, at: now) } catch {
        throw .usage("'\(word)' \(error.reason)", hint: error.hint)
      }
    }
  }
}

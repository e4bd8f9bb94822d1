public import ArgumentParser
import Bytes
import Files
public import Revalidation

/// The options for validation requests.
struct ValidationOptions: ParsableArguments {
  @Option(help: "What to ask with: auto (all that there is), etag, last-modified.")
  var sendValidator = ValidationRules.SentValidator.auto

  @Option(
    help: ArgumentHelp(
      "The method to ask by: auto (that of the entry), get, head; HEAD answers without a body.",
      valueName: "method"))
  var httpMethod = ValidationRules.Method.auto

  @Flag(help: "Send the stored Cookie and Authorization, and user and password of the URL.")
  var withCredentials = false

  @Flag(help: "Follow redirects, up to ten; never from https to http.")
  var follow = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for the head of an answer, and for each further piece; 15s unless said.",
      valueName: "duration"),
    transform: parseDuration)
  var timeout: Double = 15

  @Option(
    help: ArgumentHelp(
      "The largest body that '--refresh' loads; 64 MiB unless said.", valueName: "size"),
    transform: parseSize)
  var bodyLimit = ByteCount(64 << 20)

  @Option(
    help: ArgumentHelp(
      "How many requests at once; at most two of them to a host.", valueName: "number"))
  var concurrency = 4

  @Option(
    help: ArgumentHelp("How many requests may begin in a second.", valueName: "number"))
  var rate: Double?

  func validate() throws {
    // Half of what the fetch program accepts at once.
    guard (1...32).contains(concurrency) else {
      throw ValidationError("'--concurrency' is a number from 1 to 32.")
    }
    // The time is sent to the fetch program as whole milliseconds in 32 bits, which a day is far
    // below.
    guard (0.001...86_400).contains(timeout) else {
      throw ValidationError("'--timeout' is at least 1ms and at most 1d.")
    }
    if let rate, !(0.001...1_000).contains(rate) {
      throw ValidationError("'--rate' is at least 0.001 and at most 1000 in a second.")
    }
  }

  /// Returns the rules for creating requests.
  ///
  /// - Parameter wantsBodies: Whether the bodies of changed responses are wanted.
  func rules(wantsBodies: Bool) -> ValidationRules {
    var rules = ValidationRules()
    rules.sentValidator = sendValidator
    rules.method = httpMethod
    rules.sendsCredentials = withCredentials
    rules.followsRedirects = follow
    rules.timeoutMilliseconds = UInt32(timeout * 1_000)
    rules.bodyLimit = wantsBodies ? bodyLimit : nil
    return rules
  }

  /// The schedule of requests.
  var schedule: FetchSchedule {
    FetchSchedule(
      concurrency: concurrency, millisecondsBetween: rate.map { Int64(1_000 / $0) } ?? 0)
  }
}

extension ValidationRules.Method: ExpressibleByArgument {}
extension ValidationRules.SentValidator: ExpressibleByArgument {}

public import ArgumentParser
import Bytes
import Files
public import Revalidation

/// The options for validation requests.
struct ValidationOptions: ParsableArguments {
  @Option(help: "The validators to send: auto (all), etag, last-modified.")
  var sendValidator = ValidationRules.SentValidator.auto

  @Option(
    help: ArgumentHelp(
      "The request method: auto (the entry's), get, head (no bodies).",
      valueName: "method"))
  var httpMethod = ValidationRules.Method.auto

  @Flag(
    help: ArgumentHelp(
      "Send the stored credentials: header fields such as Cookie, Authorization and X-Api-Key,"
        + " and the user name and password in the URL."))
  var withCredentials = false

  @Flag(
    help:
      "Follow redirects, up to ten; never from https to http, nor with credentials to another server."
  )
  var follow = false

  @Option(
    help: ArgumentHelp(
      "How long to wait for a response, and for each further part of it (default: 15s).",
      valueName: "duration"),
    transform: parseDuration)
  var timeout: Double = 15

  @Option(
    help: ArgumentHelp(
      "The largest body that '--refresh' downloads (default: 64MiB).", valueName: "size"),
    transform: parseSize)
  var bodyLimit = ByteCount(64 << 20)

  @Option(
    help: ArgumentHelp(
      "The number of concurrent requests; at most two per host.", valueName: "number"))
  var concurrency = 4

  @Option(
    help: ArgumentHelp("The maximum number of requests per second.", valueName: "number"))
  var rate: Double?

  func validate() throws {
    // Half of what the fetch program accepts at once.
    guard (1...32).contains(concurrency) else {
      throw ValidationError("'--concurrency' must be from 1 to 32.")
    }
    // The time is sent to the fetch program as whole milliseconds in 32 bits, which a day is far
    // below.
    guard (0.001...86_400).contains(timeout) else {
      throw ValidationError("'--timeout' must be from 1ms to 1d.")
    }
    if let rate, !(0.001...1_000).contains(rate) {
      throw ValidationError("'--rate' must be from 0.001 to 1000.")
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

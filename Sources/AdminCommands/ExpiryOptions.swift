import Administration
import ArgumentParser
import ResponseStorage

/// The expiries of an application's own.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Stale is also what has a date under this key that so many seconds have passed since;"
        + " CustomURLCacheExpiration=600 is known.",
      valueName: "key=seconds"),
    transform: parseExpiryRule)
  var userInfoExpiry: [UserInfoExpiry.Rule] = []

  /// The given rules and the known ones.
  var rules: [UserInfoExpiry.Rule] { UserInfoExpiry.rules(adding: userInfoExpiry) }
}

/// A rule on the command line: `KEY=SECONDS`, parted at the last `=`; seconds as a bare number, or with a
/// unit.
func parseExpiryRule(_ text: String) throws -> UserInfoExpiry.Rule {
  let bytes = Array(text.utf8)
  if let sign = bytes.lastIndex(of: UInt8(ascii: "=")), sign > 0 {
    let number = String(decoding: bytes[(sign + 1)...], as: UTF8.self)
    let seconds =
      number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      ? Int64(number) : (try? parseDuration(number)).map { Int64($0) }
    if let seconds {
      return UserInfoExpiry.Rule(key: ByteString(Array(bytes[..<sign])), seconds: seconds)
    }
  }
  throw ValidationError(
    "'\(printable(text))' is not an expiry. Write a key and a number of seconds, for example"
      + " 'Cached Date=3600'.")
}

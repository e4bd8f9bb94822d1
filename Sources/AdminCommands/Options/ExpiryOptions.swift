import Administration
import ArgumentParser
import ResponseStorage

/// The options for the expiry rules of the app.
struct ExpiryOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Treat entries as stale this many seconds after the date under this user-info key;"
        + " CustomURLCacheExpiration=600 is built in.",
      valueName: "key=seconds"),
    transform: parseExpiryRule)
  var userInfoExpiry: [UserInfoExpiry.Rule] = []

  // A rule for the key of a built-in one takes its place, as an app may use another time under the
  // same key.
  /// The given rules and the built-in ones.
  var rules: [UserInfoExpiry.Rule] { UserInfoExpiry.rules(adding: userInfoExpiry) }
}

/// Parses an expiry rule: `KEY=SECONDS`.
func parseExpiryRule(_ text: String) throws -> UserInfoExpiry.Rule {
  do { return try UserInfoExpiry.Rule(written: text) } catch { throw ValidationError(error) }
}

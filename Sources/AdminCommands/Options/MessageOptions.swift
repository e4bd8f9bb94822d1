import ArgumentParser

/// The options for messages on standard error.
struct MessageOptions: ParsableArguments {
  @Flag(
    name: [.customShort("q"), .long],
    help: "Write no notes, hints or summaries to standard error, only errors.")
  var quiet = false
}

import ArgumentParser

/// Options of `grep` that are accepted without being shown in the help.
///
/// Some ask for what this command does anyway: it searches all entries, and shows where each match is.
struct GrepSynonyms: ParsableArguments {
  @Flag(
    name: [.customShort("r"), .customShort("R"), .customLong("recursive")], help: .hidden)
  var isRecursive = false

  @Flag(name: [.customShort("n"), .customLong("line-number")], help: .hidden)
  var showsNumbers = false

  @Flag(name: [.customShort("H"), .customLong("with-filename")], help: .hidden)
  var showsNames = false

  @Flag(
    name: [.customShort("P"), .customLong("perl-regexp"), .customLong("extended-regexp")],
    help: .hidden)
  var expression = false

  @Flag(name: .customLong("word-regexp"), help: .hidden)
  var word = false

  @Flag(name: [.customShort("a"), .customLong("text")], help: .hidden)
  var binary = false
}

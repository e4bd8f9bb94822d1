import ArgumentParser

/// The cache as the first operand of a command.
///
/// ArgumentParser cannot know whether the first operand is a cache or an entry, so ``CacheOperandCommand`` decides later.
struct CacheOperand: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "The cache, as with '-c'. URLs and ids are never taken for a cache.", valueName: "cache"),
    completion: .requested)
  var first: String?
}

import ArgumentParser

/// The options for the log and metrics; the caller of the command writes them, even after a failure.
struct RecordOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write what was done, and what is in the cache then, for Prometheus; not with '--dry-run'.",
      valueName: "file"),
    completion: .file(extensions: ["prom"]))
  var metricsFile: String?

  @Option(
    help: ArgumentHelp(
      "Append a line of JSON about what was done; not with '--dry-run'.", valueName: "file"),
    completion: .file())
  var log: String?

  /// The files, with their options.
  var files: [NewFileOption] {
    [("--log", log), ("--metrics-file", metricsFile)].compactMap { option, path in
      path.map { NewFileOption(option: option, path: $0) }
    }
  }
}

import ArgumentParser

/// The options for the log and metrics; the caller of the command writes them, even after a failure.
struct RecordOptions: ParsableArguments {
  @Option(
    name: [.long, .customLong("metrics")],
    help: ArgumentHelp(
      "Write the result and the state of the cache for Prometheus; not with '--dry-run'.",
      valueName: "file"),
    completion: .file(extensions: ["prom"]))
  var metricsFile: String?

  @Option(
    help: ArgumentHelp(
      "Append the result to this file as a line of JSON; not with '--dry-run'.", valueName: "file"),
    completion: .file())
  var log: String?

  /// The files, with their options.
  var files: [NewFileOption] {
    [("--log", log), ("--metrics-file", metricsFile)].compactMap { option, path in
      path.map { NewFileOption(option: option, path: $0) }
    }
  }
}

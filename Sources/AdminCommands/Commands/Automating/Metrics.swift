import Administration
import ArgumentParser
import Files
import Rendering
import ResponseStorage

extension URLCacheAdmin {
  /// `urlcache-admin metrics`: shows the contents of caches for Prometheus.
  struct Metrics: CacheOperandCommand {
    static let configuration = CommandConfiguration(
      commandName: "metrics",
      abstract: "Print metrics of caches in the Prometheus text format.",
      usage: "urlcache-admin metrics [<options>] [<cache>]",
      discussion: """
        Every metric has the label 'cache'; counts and sizes of entries also have
        'state'. Only the number of entries ever stored is a counter; all other
        metrics are gauges. With '-o', the file is replaced atomically. For the
        textfile collector of node_exporter, its name must end with '.prom'. With
        '--metrics-file', commands that change a cache write such a file too, and add
        the result of the command.
        """)

    @OptionGroup var operands: CacheOperand
    @OptionGroup(title: "Cache") var cache: CacheOptions
    @OptionGroup(title: "Cache") var scope: ScopeOptions
    @OptionGroup(title: "Output") var terminal: TerminalOptions
    @OptionGroup var expiry: ExpiryOptions

    @Option(
      name: .shortAndLong, help: ArgumentHelp("Write to this file.", valueName: "file"),
      completion: .file(extensions: ["prom"]))
    var output: String?

    var writesJSON: Bool { false }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
      if scope.allCaches { try cache.refuseName() }
      var environment = environment
      environment.now = cache.now(in: environment)
      if let output { try RunRecorder.check(output) }
      let names =
        scope.allCaches
        ? environment.configuration.cacheNames
        // The name where there is one, so that the label stays the same when a cache moves.
        : [try cache.name(in: environment) ?? cache.path(in: environment)]
      // One file for all caches, since a metric may appear only once in the text format, and each
      // run would replace the file of the last.
      let metrics = try names.map { name in
        do {
          return try environment.metrics(
            ofCache: name, capacity: environment.capacity(ofCache: name),
            expiryRules: expiry.rules)
        } catch let error as StoreError where scope.allCaches {
          var failure = CommandFailure(error)
          failure.message = "the cache '\(printable(name))': \(failure.message)"
          throw failure
        }
      }
      // Replaced as a whole, since a collector may read the file at any moment.
      if let output {
        try environment.writeMetrics(metrics, to: output)
      } else {
        try environment.write(MetricsRenderer.text(metrics).bytes)
      }
      return .done
    }
  }
}

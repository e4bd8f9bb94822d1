public import Administration
import Bytes
import ResponseStorage

/// Renders metrics in the Prometheus text format, without timestamps.
///
/// The only labels are `cache` and `state`, so that URLs cannot create time series.
public enum MetricsRenderer {
  /// Returns the text. Each metric appears once, with the values of all caches.
  public static func text(_ caches: [CacheMetrics]) -> TextBuffer {
    var buffer = TextBuffer()
    for metric in metrics {
      let samples = caches.flatMap { cache in
        metric.samples(cache).map { (cache: cache.cache, state: $0.state, value: $0.value) }
      }
      // A metric without samples would be a HELP and a TYPE line for nothing.
      guard !samples.isEmpty else { continue }
      buffer.append("# HELP urlcache_\(metric.name) \(metric.help)\n")
      // All lines of a metric must be one group (Prometheus text format), hence the loop over
      // metrics first and caches second.
      buffer.append("# TYPE urlcache_\(metric.name) \(metric.isCounter ? "counter" : "gauge")\n")
      for sample in samples {
        // The prefix and the units at the end follow the naming conventions of Prometheus.
        buffer.append("urlcache_\(metric.name){cache=\"")
        buffer.append(label: sample.cache)
        buffer.append("\"")
        if let state = sample.state { buffer.append(",state=\"\(state)\"") }
        buffer.append("} \(sample.value)\n")
      }
    }
    return buffer
  }

  /// A metric, named without the common prefix.
  private struct Metric {
    let name: String
    let help: String
    /// Whether the value only grows, apart from resets.
    var isCounter = false
    let samples: (CacheMetrics) -> [(state: String?, value: String)]
  }

  private static var metrics: [Metric] {
    [
      metric("disk_bytes", "Size of the cache on disk.") {
        $0.usage?.footprint.totalBytes
      },
      metric("in_use_bytes", "Space in use, which '--max-size' limits.") { $0.usage?.inUseBytes },
      metric("capacity_bytes", "Capacity of the cache, otherwise its max-size.") {
        $0.capacityBytes
      },
      byState("entries", "Number of entries by freshness.", \.entries),
      byState("entry_bytes", "Total size of the bodies by freshness.", \.bytes),
      metric(
        "stored_entries_total", "Number of entries ever stored, from the counter of the cache.",
        isCounter: true
      ) { $0.usage?.churn?.stored },
      metric(
        "oldest_entry_timestamp_seconds", "Time at which the oldest entry was stored."
      ) { $0.usage?.storedTimes?.lowerBound.wholeSeconds },
      metric("orphan_files", "Body files that no entry refers to.") {
        $0.usage.map { Int64($0.footprint.orphanFiles) }
      },
      metric("missing_bodies", "Entries whose body is missing.") { $0.usage?.missingBodies },
      // A time as a value, because the textfile collector of node_exporter refuses files with
      // timestamps. An alert can compare it with `time()`.
      metric("last_run_timestamp_seconds", "End time of the last command that changes caches.") {
        $0.run?.time.wholeSeconds
      },
      metric("last_run_success", "Whether the last command exited with status 0.") {
        $0.run.map { $0.isSuccess ? 1 : 0 }
      },
      Metric(name: "last_run_duration_seconds", help: "Duration of the last command.") { cache in
        cache.run.map { [(nil, milliseconds($0.durationSeconds))] } ?? []
      },
      metric("last_run_removed_entries", "Number of entries that the last command removed.") {
        $0.run?.removedEntries
      },
      metric("last_run_removed_bytes", "Total size of the bodies that the last command removed.") {
        $0.run?.removedBytes
      },
      metric(
        "last_run_left_entries",
        "Number of entries not removed because the last command was stopped."
      ) {
        $0.run?.left
      },
      metric(
        "last_run_skipped",
        "Whether the last command did nothing because the cache was in use or no time was left."
      ) {
        $0.run.map { $0.isSkipped ? 1 : 0 }
      },
    ]
  }

  private static func metric(
    _ name: String, _ help: String, isCounter: Bool = false,
    _ value: @escaping (CacheMetrics) -> (some CustomStringConvertible)?
  ) -> Metric {
    Metric(name: name, help: help, isCounter: isCounter) { cache in
      value(cache).map { [(nil, "\($0)")] } ?? []
    }
  }

  /// Returns a metric with a value for each freshness state. States without entries get 0, so that no time series ends.
  private static func byState(
    _ name: String, _ help: String,
    _ value: @escaping (UsageReport.Group) -> some CustomStringConvertible
  ) -> Metric {
    let states: [ResponseFreshness.State?] = ResponseFreshness.State.allCases + [nil]
    return Metric(name: name, help: help) { cache in
      guard let usage = cache.usage else { return [] }
      return states.map { state in
        let key = state.map { ByteString($0.rawValue) }
        let group = usage.groups.first { $0.key == key }
        return (state.word, group.map { "\(value($0))" } ?? "0")
      }
    }
  }

  /// Returns seconds with three decimals.
  static func milliseconds(_ seconds: Double) -> String {
    // Clamped, because converting a larger number to `Int64` would trap.
    let thousandths = Int64(min(max(seconds, 0), 1e12) * 1_000)
    // Adding 1,000 and dropping its digit pads the decimals with zeros.
    let rest = String(thousandths % 1_000 + 1_000).dropFirst()
    return "\(thousandths / 1_000).\(rest)"
  }
}

extension TextBuffer {
  /// Appends the value of a label, with `\`, quotes and line feeds escaped.
  fileprivate mutating func append(label text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): append("\\\\")
      case UInt8(ascii: "\""): append("\\\"")
      // These three are the only escapes of a label value in the text format.
      case UInt8(ascii: "\n"): append("\\n")
      default: append(byte)
      }
    }
  }
}

import Administration
public import Bytes
import JSON
public import ResponseStorage
public import Watching

/// One JSON object a line, each with its event: `begin`, a change, `gone`, `back`, and at last `end`.
extension WatchRenderer {
  /// When something happens.
  public struct Moment: Sendable {
    /// The time.
    public let time: Timestamp
    /// The time that ages are relative to, which `--at` can set.
    public let evaluation: Timestamp
    /// The time since the beginning of the watch, in milliseconds.
    public let milliseconds: Int64

    /// Creates a moment.
    public init(_ time: Timestamp, evaluation: Timestamp, milliseconds: Int64) {
      (self.time, self.evaluation, self.milliseconds) = (time, evaluation, milliseconds)
    }
  }

  /// Appends the first object.
  ///
  /// - Parameters:
  ///   - store: The cache; `nil` if there is none yet.
  ///   - entries: The number of its entries, selected or not.
  public func appendBegin(
    _ store: StoreDescription, entries: Int64, at moment: Moment, into buffer: inout TextBuffer
  ) {
    append("begin", moment, into: &buffer) { json in
      json.member(schema: "watch")
      json.member("cache", store)
      json.member("entries", entries)
    }
  }

  /// Appends the object of a change.
  public func appendJSON(_ change: EntryChange, at moment: Moment, into buffer: inout TextBuffer) {
    append(change.kind.rawValue, moment, into: &buffer) { json in
      guard let response = change.response else {
        json.member(id: change.id)
        json.member("url", url: change.url, secrets)
        return json.member("size", change.size)
      }
      EntryJSON(
        columns: Column.standardJSON + [.host, .freshness], secrets: secrets,
        now: moment.evaluation,
        expiryRules: expiryRules
      ).write(response, to: &json)
      guard change.kind == .replaced else { return }
      json.object("previous") { json in
        json.member(id: change.previousID ?? change.id)
        json.member("size", change.previousSize)
      }
    }
  }

  /// Appends an object about the cache as a whole: `gone` or `back`.
  public func appendJSON(event: String, at moment: Moment, into buffer: inout TextBuffer) {
    append(event, moment, into: &buffer) { _ in }
  }

  /// Appends the last object.
  public func append(
    _ summary: WatchSummary, at moment: Moment, into buffer: inout TextBuffer
  ) {
    let tally = summary.tally
    append("end", moment, into: &buffer) { json in
      json.member("reason", word: summary.reason.rawValue)
      json.member("entries", summary.entries)
      json.member("added", tally.count(.added))
      json.member("replaced", tally.count(.replaced))
      json.member("removed", tally.count(.removed))
      json.member("not_seen", tally.missed)
      json.member("transactions", summary.transactions)
      json.member("looks", summary.looks)
      json.member("stored_bytes", tally.storedBytes)
      json.member("removed_bytes", tally.removedBytes)
      json.object("freshness") { json in
        for state in ResponseFreshness.State.allCases {
          json.member(named: state.rawValue, tally.freshness[state] ?? 0)
        }
      }
      json.array("hosts", objects: tally.busiestHosts(100)) { json, host in
        json.member("host", utf8OrBase64: host.host)
        json.member("stored", host.entries)
        json.member("bytes", host.bytes)
      }
      json.member("other_hosts", tally.otherHosts)
    }
  }

  private func append(
    _ event: String, _ moment: Moment, into buffer: inout TextBuffer,
    _ members: (inout JSONWriter) -> Void
  ) {
    buffer.writeJSON { json in
      json.object { json in
        json.member("event", word: event)
        json.member("time", moment.time)
        json.member("elapsed", Double(moment.milliseconds) / 1_000)
        members(&json)
      }
      json.endLine()
    }
  }
}

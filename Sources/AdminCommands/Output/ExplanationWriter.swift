import Administration
import Bytes
import Files
import HTTPCaching
import JSON
import Rendering
import ResponseStorage

/// Explains responses and writes the results in order; uses several threads for many responses.
final class ExplanationWriter {
  /// The number of explanations with each verdict.
  private(set) var verdicts = VerdictCounts()

  /// The JSON object to write to; `nil` for formats without one.
  var json: JSONStream?

  private let threads: OrderedParallelMap<Task, Never, Rendered>
  private let write: (TextBuffer) throws -> Void
  private var hasBegun = false

  /// A response, and its place in the output.
  private struct Task: Sendable {
    let response: StoredResponse
    let isFirst: Bool
    /// Its position in the JSON object.
    var json: JSONStream?
  }

  /// Rendered responses.
  private struct Rendered: Sendable {
    var text: TextBuffer
    var verdicts = VerdictCounts()
  }

  /// The size of a response without its header fields, and of its explanation, roughly.
  private static let bytesOfResponse: ByteCount = 2_048

  /// - Parameters:
  ///   - classes: The classes of responses according to the configuration.
  ///   - json: The JSON object to write to, if the format has one.
  ///   - style: What the text may look like.
  ///   - write: Called with each part of the text.
  init(
    asking inquiry: Inquiry, by classes: EntryClasses, _ renderer: ExplanationRenderer,
    _ format: ExplanationFormat, in json: JSONStream?, style: TextStyle,
    _ write: @escaping (TextBuffer) throws -> Void
  ) {
    (self.json, self.write) = (json, write)
    threads = OrderedParallelMap("ExplanationWriter") {
      var (inquiry, policies) = (inquiry, PolicyTexts())
      // Each explanation retains the rules. With a copy of the array for each thread, the threads do not contend for
      // its reference count.
      inquiry.expiryRules = inquiry.expiryRules.map { $0 }
      return { tasks, _ in
        var rendered = Rendered(text: TextBuffer(style: style))
        for var task in tasks {
          var explanation = Explanation(of: task.response, asking: inquiry)
          explanation.configured = .init(of: task.response, by: classes)
          switch format {
          case .table:
            if !task.isFirst { rendered.text.append("\n") }
            renderer.appendText(explanation, into: &rendered.text)
          case .json:
            task.json?.append(to: &rendered.text.bytes) {
              renderer.write(explanation, &policies, to: &$0)
            }
          case .ndjson: renderer.appendJSON(explanation, &policies, into: &rendered.text)
          }
          rendered.verdicts.insert(explanation)
        }
        return rendered
      }
    }
  }

  /// Adds a response.
  func insert(_ response: borrowing StoredResponse) throws {
    let task = Task(response: copy response, isFirst: !hasBegun, json: json?.split())
    hasBegun = true
    threads.add(task, byteCount: Self.bytesOfResponse)
    try takeRendered(all: false)
  }

  /// Writes the remaining text.
  func finish() throws { try takeRendered(all: true) }

  private func takeRendered(all: Bool) throws {
    try threads.forEachSummary(all: all) { rendered in
      verdicts.insert(rendered.verdicts)
      try write(rendered.text)
    }
  }
}

/// The number of explanations with each verdict.
struct VerdictCounts: Sendable {
  /// By freshness; `nil` counts unknown freshness.
  private(set) var byState: [ResponseFreshness.State?: Int64] = [:]
  /// The number of explanations with unknown freshness or outcome.
  private var undecided: Int64 = 0

  var isEmpty: Bool { byState.isEmpty }

  mutating func insert(_ explanation: Explanation) {
    byState[explanation.state, default: 0] += 1
    if explanation.state == nil || explanation.outcome == .unknown { undecided += 1 }
  }

  mutating func insert(_ other: VerdictCounts) {
    byState.merge(other.byState, uniquingKeysWith: +)
    undecided += other.undecided
  }

  /// The exit status; the answer "no" has precedence over unknown. An entry without a lifetime is not fresh either: a
  /// cache must validate it before each use (RFC 9111 §4.2).
  var status: ExitStatus {
    if byState[.stale] != nil || byState[.noLifetime] != nil { return .no }
    return undecided > 0 ? .partly : .done
  }
}

import Administration
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

  private static let responsesInBatch = 128
  private static let bytesInBatch = 1 << 18
  private static let batchesPerThread = 2

  private let inquiry: Inquiry
  private let classes: EntryClasses
  private let renderer: ExplanationRenderer
  private let format: ExplanationFormat
  private let style: TextStyle
  private let write: (TextBuffer) throws -> Void

  /// The texts of policies that this thread has rendered; each other thread has its own.
  private var policies = PolicyTexts()
  private var batch: [StoredResponse] = []
  private var batchCount = 0
  /// The number of batches sent to threads whose texts have not been written.
  private var pendingCount = 0
  private var threads: [(work: Channel<Work>, done: Channel<Rendered>)] = []

  /// A batch of consecutive responses.
  private struct Work: Sendable {
    let responses: [StoredResponse]
    let isFirst: Bool
    /// The position of the batch in the JSON object.
    let json: JSONStream?
  }

  /// The rendered batch.
  private struct Rendered: Sendable {
    var text: TextBuffer
    var verdicts = VerdictCounts()
  }

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
    (self.inquiry, self.classes) = (inquiry, classes)
    self.renderer = renderer
    self.format = format
    self.json = json
    self.style = style
    self.write = write
  }

  /// Adds a response.
  func insert(_ response: borrowing StoredResponse) throws {
    if batch.isEmpty { batch.reserveCapacity(Self.responsesInBatch) }
    batch.append(copy response)
    if batch.count == Self.responsesInBatch { try sendBatch() }
  }

  /// Writes the remaining text.
  func finish() throws {
    while pendingCount > 0 { try writeOldest() }
    guard !batch.isEmpty else { return }
    try write(Self.rendered(takeBatch(), inquiry, classes, renderer, format, style, &policies))
  }

  deinit {
    for thread in threads { thread.work.close() }
  }

  private func sendBatch() throws {
    startThreads()
    // Limit the pending batches, so that memory stays bounded.
    if pendingCount == threads.count * Self.batchesPerThread { try writeOldest() }
    // In turns, so that the oldest batch is always known and the output keeps the order of the
    // entries.
    let thread = threads[batchCount % threads.count]
    thread.work.send(takeBatch())
    pendingCount += 1
  }

  private func takeBatch() -> Work {
    defer {
      batch = []
      batchCount += 1
    }
    return Work(responses: batch, isFirst: batchCount == 0, json: json?.split())
  }

  /// Waits for the oldest pending batch.
  private func writeOldest() throws {
    let thread = threads[(batchCount - pendingCount) % threads.count]
    guard let rendered = thread.done.receive() else { return }
    pendingCount -= 1
    try write(rendered)
  }

  private func write(_ rendered: Rendered) throws {
    verdicts.insert(rendered.verdicts)
    try write(rendered.text)
  }

  private func startThreads() {
    guard threads.isEmpty else { return }
    for _ in 0..<min(processorCount, 4) {
      let (work, done) = (Channel<Work>(), Channel<Rendered>())
      threads.append((work, done))
      BackgroundThread.start("ExplanationWriter") { [inquiry, classes, renderer, format, style] in
        var (inquiry, policies) = (inquiry, PolicyTexts())
        // Each explanation retains the rules. With a copy of the array for each thread, the threads do not contend for
        // its reference count.
        inquiry.expiryRules = inquiry.expiryRules.map { $0 }
        while let next = work.receive() {
          done.send(Self.rendered(next, inquiry, classes, renderer, format, style, &policies))
        }
      }
    }
  }

  private static func rendered(
    _ work: Work, _ inquiry: Inquiry, _ classes: EntryClasses, _ renderer: ExplanationRenderer,
    _ format: ExplanationFormat, _ style: TextStyle, _ policies: inout PolicyTexts
  ) -> Rendered {
    var (rendered, json) = (Rendered(text: TextBuffer(style: style)), work.json)
    rendered.text.bytes.reserveCapacity(work.responses.count == responsesInBatch ? bytesInBatch : 0)
    for response in work.responses {
      let isFirst = work.isFirst && rendered.verdicts.isEmpty
      var explanation = Explanation(of: response, asking: inquiry)
      explanation.configured = .init(of: response, by: classes)
      switch format {
      case .table:
        if !isFirst { rendered.text.append("\n") }
        renderer.appendText(explanation, into: &rendered.text)
      case .json:
        json?.append(to: &rendered.text.bytes) { renderer.write(explanation, &policies, to: &$0) }
      case .ndjson: renderer.appendJSON(explanation, &policies, into: &rendered.text)
      }
      rendered.verdicts.insert(explanation)
    }
    return rendered
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

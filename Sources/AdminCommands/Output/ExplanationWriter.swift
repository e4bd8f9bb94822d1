import Administration
import Files
import HTTPCaching
import JSON
import Rendering
import ResponseStorage

/// Explains responses and renders what it finds, in their order; many of them on several threads.
final class ExplanationWriter {
  /// How many explanations had which verdict.
  private(set) var verdicts = VerdictCounts()

  /// The object that explanations are written to; `nil` for a format in which there is none.
  var json: JSONStream?

  private static let responsesInBatch = 128
  private static let bytesInBatch = 1 << 18
  private static let batchesPerThread = 2

  private let inquiry: Inquiry
  private let classes: EntryClasses
  private let renderer: ExplanationRenderer
  private let format: ExplanationFormat
  private let write: (TextBuffer) throws -> Void

  /// What this thread has written of policies; each of the others has its own.
  private var policies = PolicyTexts()
  private var batch: [StoredResponse] = []
  private var batchCount = 0
  /// How many batches were given to threads, whose texts were not yet written.
  private var pendingCount = 0
  private var threads: [(work: Channel<Work>, done: Channel<Rendered>)] = []

  /// Responses that follow each other.
  private struct Work: Sendable {
    let responses: [StoredResponse]
    let isFirst: Bool
    /// Where they come in the object.
    let json: JSONStream?
  }

  /// What became of them.
  private struct Rendered: Sendable {
    var text = TextBuffer()
    var verdicts = VerdictCounts()
  }

  /// - Parameters:
  ///   - classes: What the configuration says of responses.
  ///   - json: The object that explanations are written to, if the format has one.
  ///   - write: What to do with a part of the text.
  init(
    asking inquiry: Inquiry, by classes: EntryClasses, _ renderer: ExplanationRenderer,
    _ format: ExplanationFormat, in json: JSONStream?,
    _ write: @escaping (TextBuffer) throws -> Void
  ) {
    (self.inquiry, self.classes) = (inquiry, classes)
    self.renderer = renderer
    self.format = format
    self.json = json
    self.write = write
  }

  /// Takes a response in.
  func insert(_ response: borrowing StoredResponse) throws {
    if batch.isEmpty { batch.reserveCapacity(Self.responsesInBatch) }
    batch.append(copy response)
    if batch.count == Self.responsesInBatch { try sendBatch() }
  }

  /// Writes what was not yet written.
  func finish() throws {
    while pendingCount > 0 { try writeOldest() }
    guard !batch.isEmpty else { return }
    try write(Self.rendered(takeBatch(), inquiry, classes, renderer, format, &policies))
  }

  deinit {
    for thread in threads { thread.work.close() }
  }

  private func sendBatch() throws {
    startThreads()
    if pendingCount == threads.count * Self.batchesPerThread { try writeOldest() }
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

  /// Waits for the batch that was given away first of those that are pending.
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
      BackgroundThread.start("ExplanationWriter") { [inquiry, classes, renderer, format] in
        var (inquiry, policies) = (inquiry, PolicyTexts())
        // Each explanation holds on to the rules: an array of its own spares a thread from waiting for
        // the others, who count too.
        inquiry.expiryRules = inquiry.expiryRules.map { $0 }
        while let next = work.receive() {
          done.send(Self.rendered(next, inquiry, classes, renderer, format, &policies))
        }
      }
    }
  }

  private static func rendered(
    _ work: Work, _ inquiry: Inquiry, _ classes: EntryClasses, _ renderer: ExplanationRenderer,
    _ format: ExplanationFormat, _ policies: inout PolicyTexts
  ) -> Rendered {
    var (rendered, json) = (Rendered(), work.json)
    rendered.text.bytes.reserveCapacity(work.responses.count == responsesInBatch ? bytesInBatch : 0)
    for response in work.responses {
      let isFirst = work.isFirst && rendered.verdicts.isEmpty
      var explanation = Explanation(of: response, asking: inquiry)
      explanation.configured = .init(of: response, by: classes)
      switch format {
      case .text:
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

/// How many explanations had which verdict.
struct VerdictCounts: Sendable {
  /// By freshness, and under `nil` those of which it is not known.
  private(set) var byState: [ResponseFreshness.State?: Int64] = [:]
  /// Of how many it is not known whether they are fresh, or whether they are used.
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

  /// What the process ends with: the answer "no" goes before what is not known. An entry without a lifetime
  /// is not fresh either: a cache must validate it before each use (RFC 9111 §4.2).
  var status: ExitStatus {
    if byState[.stale] != nil || byState[.noLifetime] != nil { return .no }
    return undecided > 0 ? .partly : .done
  }
}

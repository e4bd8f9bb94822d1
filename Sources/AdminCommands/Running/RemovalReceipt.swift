import Administration
import Bytes
import Rendering
import ResponseStorage

/// What a plan removes, or has removed, as the user is shown it.
struct RemovalReceipt {
  /// The plan.
  let plan: RemovalPlan
  /// How it is written.
  var renderer: RemovalRenderer
  /// The number of entries that had changed, and stayed.
  var skipped = 0
  /// What was left, and why, as it was stopped.
  var rest: RemovalRest?
  /// What goes back to the file system, in bytes.
  private(set) var returnedBytes: ByteCount
  /// What the cache takes up then, in bytes, if that is known.
  var footprintAfter: ByteCount?
  /// Whether people are shown what the cache takes up, too.
  var showsFootprint = false
  private let format: ChangeFormat

  init(_ plan: RemovalPlan, _ renderer: RemovalRenderer, _ format: ChangeFormat) {
    self.plan = plan
    self.renderer = renderer
    self.format = format
    returnedBytes = plan.returnedBytes
    footprintAfter = plan.footprintAfter
  }

  /// Says what has gone back to the file system, which is less than planned where a file could not be removed.
  mutating func setReturned(_ bytes: ByteCount) {
    footprintAfter = footprintAfter.map { $0 + max(0, returnedBytes - bytes) }
    returnedBytes = bytes
  }

  func append(into buffer: inout TextBuffer) {
    switch format {
    case .table:
      renderer.appendText(
        plan, skipped: skipped, returnedBytes: returnedBytes, rest: rest,
        footprintAfter: showsFootprint ? footprintAfter : nil, into: &buffer)
    case .json:
      renderer.appendJSON(
        plan, skipped: skipped, rest: rest, footprintAfter: footprintAfter, into: &buffer)
    }
  }

  func write(in environment: CommandEnvironment) throws {
    if !renderer.isDryRun {
      environment.record.add(plan)
      environment.record.left = rest?.count ?? 0
    }
    var output = OutputBuffer(environment)
    append(into: &output.text)
    try output.flush()
  }
}

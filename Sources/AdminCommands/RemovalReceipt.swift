import Administration
import Rendering

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
  /// What the cache takes up then, in bytes, if that is known.
  var footprintAfter: Int64?
  /// Whether people are shown what the cache takes up, too.
  var showsFootprint = false
  private let format: ChangeFormat

  init(_ plan: RemovalPlan, _ renderer: RemovalRenderer, _ format: ChangeFormat) {
    self.plan = plan
    self.renderer = renderer
    self.format = format
    footprintAfter = plan.footprintAfter
  }

  func append(into buffer: inout TextBuffer) {
    switch format {
    case .table:
      renderer.appendText(
        plan, skipped: skipped, rest: rest,
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

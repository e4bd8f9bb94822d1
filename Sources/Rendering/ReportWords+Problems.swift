import Administration
import ResponseStorage

/// What the integrity of a cache is like, in words.
struct ProblemText: Hashable, Sendable {
  /// Whether it is as it should be.
  let isGood: Bool
  /// What it is about.
  let title: String
  /// What there is to say about it.
  let text: String
  /// The command that shows how it would be repaired, if it can be.
  let command: ByteString?
}

extension ReportWords {
  /// What was found wrong, or that nothing was.
  var problems: [ProblemText] {
    let footprint = report.usage.footprint
    var all: [ProblemText] = []
    if footprint.orphanFiles > 0 {
      let isApple = report.store.format == .apple
      all.append(
        ProblemText(
          isGood: false,
          title: Self.counted(footprint.orphanFiles, "orphan file", "orphan files"),
          text: "of \(ByteSizeText.text(footprint.orphanBytes)), which "
            + (isApple ? "no entry names." : "URLCache neither counts nor removes."),
          command: isApple && report.canBeChanged
            ? command("check", "--repair=orphans --dry-run") : nil))
    } else {
      all.append(
        ProblemText(
          isGood: true, title: "Files:", text: "Every body file has an entry.", command: nil))
    }
    all += report.problems.map { text(of: $0) }
    if report.problems.isEmpty {
      all.append(
        ProblemText(
          isGood: true, title: "Entries:",
          text:
            "All that was decoded of \(Self.counted(report.usage.entries, "entry", "entries")) is"
            + " as it should be.", command: nil))
    }
    return all
  }

  private func text(of problem: CacheReport.Problem) -> ProblemText {
    let repair = report.canBeChanged ? problem.code.repair : nil
    return ProblemText(
      isGood: problem.code.severity == .note,
      title: "\(Self.grouped(problem.count)) × \(problem.code.name):",
      text: "\(problem.code.meaning).",
      command: repair.map { command("check", "--repair=\($0.rawValue) --dry-run") })
  }

  /// How many kinds of findings there are that somebody should look at.
  var problemCount: Int64 { Int64(problems.filter { !$0.isGood }.count) }

  /// The command that finds the rest.
  var checkCommand: ByteString { command("check", "--full") }
}

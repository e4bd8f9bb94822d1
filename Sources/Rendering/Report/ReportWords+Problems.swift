import Administration
import Bytes
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
    var all = report.problems.map { text(of: $0) }
    if report.usage.footprint.orphanFiles == 0 {
      all.append(good("Files:", "Every body file has an entry."))
    }
    if report.problems.isEmpty {
      let entries = Self.counted(report.usage.entries, "entry was", "entries were")
      all.append(good("Entries:", "\(entries) decoded, and nothing is wrong."))
    }
    let log = report.usage.footprint.reclaimableLogBytes
    if report.store.inUse, log > report.usage.footprint.totalBytes / 20 {
      all.append(
        good(
          "Write-ahead log:",
          "the app that has the cache open gives back \(ByteSizeText.text(log)) when it quits."))
    }
    return all
  }

  private func good(_ title: String, _ text: String) -> ProblemText {
    ProblemText(isGood: true, title: title, text: text, command: nil)
  }

  private func text(of problem: CacheReport.Problem) -> ProblemText {
    let repair = report.canBeChanged ? problem.code.repair : nil
    let size =
      problem.code.repair == .orphans && report.orphans.bytes > 0
      ? " (\(ByteSizeText.text(report.orphans.bytes)))" : ""
    return ProblemText(
      isGood: problem.code.severity == .note,
      title: "\(Self.grouped(problem.count)) × \(problem.code.name)\(size):",
      text: "\(problem.code.meaning).",
      command: repair.map { command("check", "--repair=\($0.rawValue) --dry-run") })
  }

  /// How many findings there are of each severity, as `check` counts them and in its words.
  var findingCounts: [String] {
    Finding.Severity.allCases.map { severity in
      Self.counted(
        report.findingCounts[severity, default: 0], severity.rawValue, "\(severity.rawValue)s")
    }
  }

  /// Whether there are no errors and no warnings.
  var isClean: Bool { problems.allSatisfy(\.isGood) }

  /// The command that finds the rest.
  var checkCommand: ByteString { command("check", "--full") }
}

import Administration
import Bytes
import ResponseStorage

/// The words of a report that all its formats share.
struct ReportWords: Sendable {
  /// How many characters of a text from the cache are shown, so that a report is bounded.
  enum Length {
    static let name = 48
    static let url = 160
  }

  let report: CacheReport
  let secrets: SecretPolicy

  /// How the cache is, in a few words, and whether that is good.
  var judgement: (text: String, isGood: Bool) {
    let share = report.usage.share ?? 0
    if share > 1 { return ("Over its capacity", false) }
    if report.problems.contains(where: { $0.code.severity == .error }) {
      return ("Needs attention", false)
    }
    if share > 0.9 { return ("Nearly full", false) }
    if report.usage.footprint.orphanFiles > 0 { return ("Needs attention", false) }
    return report.usage.entries == 0 ? ("Empty", true) : ("In order", true)
  }

  /// What the cache takes up.
  var used: String { ByteSizeText.text(report.usage.footprint.totalBytes) }

  /// What follows ``used`` in the sentence that says it.
  var usedOf: String {
    report.usage.capacityBytes.map { "of \(ByteSizeText.text($0)) used." } ?? "on disk."
  }

  /// The part of the bodies that is past its lifetime.
  var staleShare: String { Self.percent(report.staleBytes, of: report.usage.bodyBytes) }

  /// What follows ``staleShare`` in the sentence that says it.
  let staleSuffix = "of the bytes in bodies are stale."

  /// The hosts that hold most of the bodies: as few of the first as hold three quarters, but three at most.
  var leadingHosts: ArraySlice<CacheReport.Host> {
    var bytes: ByteCount = 0
    let count = report.hosts.prefix(3).firstIndex { host in
      bytes += host.sum.bytes
      return bytes >= report.usage.bodyBytes / 4 * 3
    }
    return report.hosts.prefix(min(3, (count ?? 2) + 1)).filter { $0.sum.bytes > 0 }[...]
  }

  /// What stands before the names of ``leadingHosts``.
  var leadingHostsPrefix: String {
    let count = leadingHosts.count
    let number = ["", "One host holds", "Two hosts hold", "Three hosts hold"][count]
    let bytes = leadingHosts.reduce(0 as ByteCount) { $0 + $1.sum.bytes }
    return "\(number) \(Self.percent(bytes, of: report.usage.bodyBytes)) of it: "
  }

  /// In how few entries half of the bytes are.
  var halfSentence: String {
    let total = report.usage.bodyBytes
    guard total > 0 else { return "no bytes in bodies" }
    var (bytes, entries): (ByteCount, Int64) = (0, 0)
    for group in report.sizes.reversed() {
      let missing = total / 2 - bytes
      guard missing > 0 else { break }
      // Within a group bodies are of about the same size.
      let part = min(1, Double(missing) / Double(max(1, group.sum.bytes)))
      entries += max(1, Int64(Double(group.sum.entries) * part))
      bytes += group.sum.bytes
    }
    return
      "half of the bytes in \(Self.percent(entries, of: report.usage.entries)) of entries"
  }

  /// A number of things.
  static func counted(_ count: Int64, _ one: String, _ many: String) -> String {
    "\(grouped(count)) \(count == 1 ? one : many)"
  }

  /// A number in groups of three digits.
  static func grouped(_ number: Int64) -> String {
    var text = TextBuffer()
    text.append(grouped: number)
    return ByteString(text.bytes).string ?? ""
  }

  /// A size without a digit after the point that says nothing: `2 KiB`.
  static func roundSize(_ bytes: ByteCount) -> String {
    let text = ByteSizeText.text(bytes)
    guard let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return text }
    let rest = text[text.utf8.index(after: point)...]
    return rest.utf8.starts(with: "0 ".utf8) ? "\(text[..<point])\(rest.dropFirst())" : text
  }

  /// The share of some bytes in others.
  static func percent(_ part: ByteCount, of whole: ByteCount) -> String {
    percent(part.bytes, of: whole.bytes)
  }

  /// A share: `<0.1 %`, `6.6 %`, `59 %`.
  static func percent(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0, part > 0 else { return "0 %" }
    let percent = Double(part) / Double(whole) * 100
    if percent < 0.05 { return "<0.1 %" }
    if percent >= 9.95 { return "\(BarText.percent(part, of: whole)) %" }
    var text = TextBuffer()
    text.append(tenthsOf: percent)
    return "\(ByteString(text.bytes).string ?? "") %"
  }
}

extension ReportWords {
  /// The name of a host, bounded.
  func name(of host: CacheReport.Host) -> ByteString {
    host.name.map { bounded(secrets.url($0, for: .people), to: Length.name) } ?? "no host"
  }

  /// The path of a folder, bounded.
  func name(of folder: CacheReport.Folder) -> ByteString {
    let path = secrets.url(folder.path, for: .people)
    return path.bytes.isEmpty ? "/" : bounded(path, to: Length.name)
  }

  /// What the URL of an entry has beyond its host and the path of its folder, bounded.
  func name(of entry: CacheReport.Entry, in folder: CacheReport.Folder) -> ByteString {
    guard let url = entry.url else { return "no URL" }
    let shown = secrets.url(url, for: .people)
    let rest = URLTail.of(shown)
    let path = secrets.url(folder.path, for: .people).bytes
    let name = rest.bytes.starts(with: path) ? ByteString(Array(rest.bytes[path.count...])) : rest
    return name.bytes.isEmpty ? "/" : bounded(name, to: Length.name)
  }

  /// The URL of an entry, bounded.
  func url(of entry: CacheReport.Entry) -> ByteString {
    entry.url.map { bounded(secrets.url($0, for: .people), to: Length.url) } ?? "no URL"
  }

  /// The URL of an entry in two: its scheme and authority, and all after them.
  func urlParts(of entry: CacheReport.Entry) -> (origin: ByteString, rest: ByteString) {
    let url = url(of: entry).bytes
    let count = url.count - URLTail.of(ByteString(url)).bytes.count
    return (ByteString(Array(url[..<count])), ByteString(Array(url[count...])))
  }

  /// Text as it is shown, with its middle left out if it is long.
  func bounded(_ text: ByteString, to limit: Int) -> ByteString {
    ByteString(Excerpt.of(HostileText.shown(text).bytes, characters: limit))
  }
}

extension CacheReport.State {
  /// The state, as a title.
  var title: String {
    switch self {
    case .fresh: "Fresh"
    case .validatable: "Stale, with a validator"
    case .expired: "Stale, without a validator"
    case .noLifetime: "No lifetime"
    case .unknown: "Unknown"
    }
  }

  /// What the state means.
  var meaning: String {
    switch self {
    case .fresh: "within its lifetime"
    case .validatable: "the server can confirm it by its ETag or Last-Modified"
    case .expired: "it must be downloaded again"
    case .noLifetime: "no max-age, no Expires, and nothing to guess from"
    case .unknown: "its header fields or the time it was stored cannot be read"
    }
  }

  /// The state, in a word.
  var word: String {
    switch self {
    case .fresh: ResponseFreshness.State.fresh.words
    case .validatable, .expired: ResponseFreshness.State.stale.words
    case .noLifetime: ResponseFreshness.State.noLifetime.words
    case .unknown: ResponseFreshness.State?.none.words
    }
  }

  /// The place in the order from good to bad, and then what is not known.
  var rank: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }
}

import Administration
import Bytes
import ResponseStorage
import Testing

@testable import Rendering

@Suite struct ReportDrawingTests {
  @Test func `a treemap fills its area in proportion to the numbers`() {
    let bounds = Rectangle(x: 3, y: 5, width: 1_176, height: 430)
    for count in [1, 2, 3, 7, 40] {
      let values = (1...count).map { ByteCount(1_000_000 / ($0 * $0)) }
      let rectangles = TreemapLayout.rectangles(of: values, in: bounds)
      let total = Double(values.reduce(0, +))
      for (value, rectangle) in zip(values, rectangles) {
        let area = rectangle.width * rectangle.height
        #expect(abs(area / (1_176 * 430) - Double(value) / total) < 1e-9)
        #expect(rectangle.x >= 2.999 && rectangle.x + rectangle.width <= 1_179.001)
        #expect(rectangle.y >= 4.999 && rectangle.y + rectangle.height <= 435.001)
      }
      // Areas that do not overlap and add up to the whole leave no gap.
      for (index, first) in rectangles.enumerated() {
        for second in rectangles[(index + 1)...] { #expect(overlap(first, second) < 1e-6) }
      }
    }
  }

  @Test func `an empty treemap has no area`() {
    let bounds = Rectangle(x: 0, y: 0, width: 10, height: 10)
    #expect(TreemapLayout.rectangles(of: [], in: bounds) == [])
    #expect(TreemapLayout.rectangles(of: [0, -1], in: bounds).allSatisfy { $0.width == 0 })
    let one = TreemapLayout.rectangles(of: [.max, 0], in: bounds)
    #expect(one[0].width * one[0].height == 100)
  }

  @Test func `an axis covers its maximum, and has few ticks`() {
    let sizes = (0...62).flatMap { power in [ByteCount(1 << power - 1), ByteCount(1 << power)] }
    for size in sizes + [.max, 0, 3_000_000] {
      let axis = AxisScale(holding: size)
      #expect(axis.part(size) <= 1, "\(size)")
      #expect(axis.part(size) > 0.35 || size < 2, "\(size)")
      #expect((2...6).contains(axis.marks.count), "\(size)")
      #expect(axis.marks.first?.text == "0" && axis.marks.last?.part == 1)
    }
    #expect(
      AxisScale(holding: ByteCount(3 << 20)).marks.map(\.text) == ["0", "1 MiB", "2 MiB", "3 MiB"])
  }

  @Test func `a bar label uses the unit of its axis`() {
    let axis = AxisScale(holding: ByteCount(30 << 20))
    let sizes = [0, 1 << 10, 60 << 10, 1 << 20, 10_430_000, 30 << 20].map { ByteCount($0) }
    #expect(sizes.map { axis.number($0) } == ["", "", "0.1", "1", "9.9", "30"])
    #expect(AxisScale(holding: .max).number(.max) == "8")
  }

  @Test func `long text is shortened in the middle, by characters`() {
    #expect(Excerpt.of(Array("abc".utf8), characters: 3) == Array("abc".utf8))
    #expect(Excerpt.of(Array("abcdef".utf8), characters: 5) == Array("ab…ef".utf8))
    let marks = Array(String(repeating: "a\u{301}\u{301}", count: 999).utf8)
    let excerpt = ByteString(Excerpt.of(marks, characters: 48)).string
    #expect(excerpt?.unicodeScalars.count == 48)
  }

  @Test func `claimed sizes do not trap`() throws {
    let now = try #require(Samples.now)
    var usage = UsageReport(footprint: Footprint())
    (usage.entries, usage.bodyBytes, usage.capacityBytes) = (.max, .max, 1)
    usage.footprint.databaseBytes = .max
    usage.footprint.walBytes = .max
    var report = CacheReport(of: Samples.store, usage, now: now)
    // Sizes are claims of a store; entries are counted.
    let entries = 1 << 40 as Int64
    let sum = CacheReport.Sum(entries: entries, bytes: .max)
    for state in CacheReport.State.allCases { report.states[state] = sum }
    var age = CacheReport.AgeGroup(name: "under 1 h")
    age.sums = report.states
    report.ages = [age]
    var limit = CacheReport.AgeLimit(seconds: 3_600)
    (limit.removed, limit.fresh) = (sum, sum)
    report.ageLimits = [limit]
    report.sizes = [.init(largest: .max, sum: sum), .init(largest: 0, sum: sum)]
    var host = CacheReport.Host(name: "a.example")
    (host.sum, host.staleBytes) = (sum, .max)
    var folder = CacheReport.Folder(path: "/f")
    (folder.sum, folder.staleBytes) = (sum, .max)
    var entry = CacheReport.Entry(id: .row(1), size: .max, state: .expired)
    entry.stored = Timestamp(secondsSince1970: -62_135_596_800)
    folder.entries = [entry, entry]
    host.folders = [folder, folder]
    report.hosts = [host, host]
    report.otherHosts = UsageReport.Rest(groups: nil, entries: entries, bytes: .max)
    report.largest = [entry]
    let renderer = ReportRenderer(secrets: SecretPolicy(), generator: "test")
    var (page, text) = (TextBuffer(), TextBuffer())
    renderer.appendHTML(report, into: &page)
    renderer.appendMarkdown(report, into: &text)
    #expect(ByteString(page.bytes).string?.contains("8.0 EiB") == true)
    #expect(ByteString(text.bytes).string?.contains("8.0 EiB") == true)
  }

  @Test func `an empty cache has no charts`() throws {
    let now = try #require(Samples.now)
    let report = CacheReport(of: Samples.store, UsageReport(footprint: Footprint()), now: now)
    var page = TextBuffer()
    ReportRenderer(secrets: SecretPolicy(), generator: "test").appendHTML(report, into: &page)
    let text = try #require(ByteString(page.bytes).string)
    #expect(text.contains("<h2>No entries</h2>"))
    #expect(!text.contains("id=\"tm\"") && !text.contains("Age"))
  }

  @Test func `an option stays on one line with its value`() throws {
    let now = try #require(Samples.now)
    let report = CacheReport(of: Samples.store, UsageReport(footprint: Footprint()), now: now)
    let page = ReportPage(
      words: ReportWords(report: report, secrets: SecretPolicy()), generator: "test")
    let code = page.code("purge -c /path --older-than 30d --dry-run", replacing: "--older-than 30d")
    #expect(
      ByteString(code.bytes) == """
        <code><span>purge</span> <span>-c /path</span> \
        <span id="wi-k">--older-than 30d</span> <span>--dry-run</span></code>
        """)
  }

  @Test(
    "a size option uses the largest unit in which it is whole",
    arguments: [
      (52_428_800, "50MiB"), (1 << 30, "1GiB"), (1_000, "1000"), (1_025 << 10, "1025KiB"),
    ] as [(Int64, String)])
  func sizeOption(bytes: Int64, text: String) {
    #expect(ReportWords.sizeOption(ByteCount(bytes)) == text)
  }

  private func overlap(_ first: Rectangle, _ second: Rectangle) -> Double {
    let width =
      min(first.x + first.width, second.x + second.width) - max(first.x, second.x)
    let height =
      min(first.y + first.height, second.y + second.height) - max(first.y, second.y)
    return max(0, width) * max(0, height)
  }
}

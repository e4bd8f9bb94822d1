import Testing

@testable import Progress

struct ProgressStateTests {
  let state = ProgressState(
    label: "Removing entries", unit: "entries", done: 43_210, total: 100_000, milliseconds: 2_000)

  @Test func `a line has the share, the count, the rate and the time left`() {
    #expect(
      state.line(width: 120, isASCII: false)
        == "Removing entries  ████████░░░░░░░░░░░░  43%  43,210 of 100,000 entries  21,605/s  3 s left"
    )
    #expect(state.line(width: 120, isASCII: true).utf8.allSatisfy { $0 < 0x80 })
  }

  @Test func `work whose pieces are all done is being finished`() {
    var state = state
    state.done = 100_000
    #expect(
      state.line(width: 120, isASCII: true)
        == "Removing entries  ####################  100,000 entries  finishing  2 s")
    state.done = 99_999
    #expect(state.line(width: 120, isASCII: true).contains("  99%  99,999 of 100,000 entries"))
  }

  @Test(arguments: 0...120) func `no line is wider than the terminal`(width: Int) {
    #expect(state.line(width: width, isASCII: false).unicodeScalars.count <= width)
  }

  @Test func `without a total, a line has the count and the time so far`() {
    var state = state
    state.total = nil
    #expect(
      state.line(width: 120, isASCII: false)
        == "Removing entries  43,210 entries  21,605/s  2 s")
  }

  @Test(
    arguments: [
      (0, 0, 0), (-1, 5, 5), (5, 0, 0), (.max, 1, 1), (1, .max, .max), (200, 100, 1_000),
    ] as [(Int64, Int64, Int64)])
  func `any numbers can be shown`(_ done: Int64, _ total: Int64, _ milliseconds: Int64) {
    var state = state
    (state.done, state.total, state.milliseconds) = (done, total, milliseconds)
    #expect(!state.line(width: 200, isASCII: false).contains("100%"))
    #expect(!state.json(isFinished: false).isEmpty)
  }

  @Test func `finished work has no time left`() {
    let line = String(decoding: state.json(isFinished: true), as: UTF8.self)
    #expect(
      line == """
        {"schema":"urlcache-admin.progress/1","label":"Removing entries","unit":"entries",\
        "done":43210,"total":100000,"elapsed_seconds":2.0,"remaining_seconds":0.0,"finished":true}

        """)
  }
}

import Testing

@testable import Rendering

@Suite struct MetricsRendererTests {
  @Test(
    arguments: [
      (0, "0.000"), (0.005, "0.005"), (0.25, "0.250"), (12.5, "12.500"), (-1, "0.000"),
      (.infinity, "1000000000000.000"),
    ] as [(Double, String)])
  func `seconds have three decimals`(seconds: Double, text: String) {
    #expect(MetricsRenderer.milliseconds(seconds) == text)
  }
}

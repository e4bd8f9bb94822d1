import Foundation

/// An executable product of this package.
struct BuiltProduct {
  private let url: URL

  /// Finds the program `name`, in the folder of the test bundle.
  init(_ name: String) {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? Bundle.main
      url = bundle.bundleURL.deletingLastPathComponent().appending(component: name)
    #else
      url = Bundle.main.bundleURL.appending(component: name)
    #endif
  }

  /// The path of the program.
  var path: String { url.path() }

  /// Runs the program and waits for it.
  func run(_ arguments: [String]) throws -> (status: Int32, error: String) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = url
    process.arguments = arguments
    process.standardError = pipe
    try process.run()
    let error = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: error, as: UTF8.self))
  }
}

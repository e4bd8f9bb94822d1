import ArgumentParser

/// A fault in a sample store.
enum Fault: String, Hashable, CaseIterable {
  /// Body files that no response refers to.
  case orphanFiles = "orphan-files"

  /// Responses that refer to a missing body file.
  case missingBodies = "missing-bodies"

  /// Responses with an invalid property list.
  case undecodable
}

/// The list of faults on the command line.
struct Faults: ExpressibleByArgument {
  /// The faults.
  let kinds: Set<Fault>

  init?(argument: String) {
    var kinds: Set<Fault> = []
    // An empty name, as of a variable that is not set, must fail and not give a store without
    // faults.
    for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let fault = Fault(rawValue: String(name)) else { return nil }
      kinds.insert(fault)
    }
    self.kinds = kinds
  }

  static let allValueStrings = Fault.allCases.map(\.rawValue)
}

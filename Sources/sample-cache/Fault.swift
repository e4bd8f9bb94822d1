import ArgumentParser

/// What a sample store can have wrong with it.
enum Fault: String, Hashable, CaseIterable {
  /// Files of bodies that no response names.
  case orphanFiles = "orphan-files"

  /// Responses that name a file that is not there.
  case missingBodies = "missing-bodies"

  /// Responses whose property list is none.
  case undecodable
}

/// A list of faults, as the command line gives it.
struct Faults: ExpressibleByArgument {
  /// The faults.
  let kinds: Set<Fault>

  init?(argument: String) {
    var kinds: Set<Fault> = []
    for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let fault = Fault(rawValue: String(name)) else { return nil }
      kinds.insert(fault)
    }
    self.kinds = kinds
  }

  static let allValueStrings = Fault.allCases.map(\.rawValue)
}

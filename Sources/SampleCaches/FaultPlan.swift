/// The distribution of faults over the responses of a sample store.
struct FaultPlan {
  /// Each requested fault occurs once in this many responses.
  private static let interval = 40

  private let faults: Set<Fault>
  private let count: Int

  /// Creates a plan that distributes faults over `count` responses.
  init(_ faults: Set<Fault>, over count: Int) {
    self.faults = faults
    self.count = count
  }

  /// Whether a response has a fault: the fourth or eighth response and every fortieth after it, or the last response
  /// of a smaller store.
  func includes(_ fault: Fault, in sample: SampleResponse) -> Bool {
    // Apart from each other, so that except in a tiny store no response has two faults.
    let first = fault == .undecodable ? 3 : 7
    return faults.contains(fault) && sample.number % Self.interval == min(first, count - 1)
  }

  /// Returns the bytes of a property list, damaged if the response has that fault.
  func damaged(_ bytes: [UInt8], of sample: SampleResponse) -> [UInt8] {
    guard includes(.undecodable, in: sample) else { return bytes }
    switch sample.number / Self.interval % 3 {
    // Three kinds of damage, because readers find them in different places: a missing trailer, a
    // wrong magic, and a trailer that points outside of the file.
    case 0: return Array(bytes.prefix(bytes.count / 2))
    case 1: return Array("not a property list".utf8)
    default: return Array(bytes.dropLast(8)) + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    }
  }
}

/// A fault in a sample store.
public enum Fault: String, Hashable, CaseIterable, Sendable {
  /// Body files that no response refers to.
  case orphanFiles = "orphan-files"

  /// Responses that refer to a missing body file.
  case missingBodies = "missing-bodies"

  /// Responses with an invalid property list.
  case undecodable
}

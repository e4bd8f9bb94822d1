import Secrets

/// The secrets that entries have, so that they are not reported again where older versions of the entries are.
///
/// Beyond a limit, secrets are not remembered, and are reported there as well.
public struct KnownSecrets: Sendable {
  private var numbers: Set<UInt64> = []
  private let most: Int

  /// Creates an empty collection.
  ///
  /// - Parameter most: The most secrets that are remembered. A million take some tens of megabytes.
  init(most: Int = 1 << 20) { self.most = most }

  /// Remembers secrets.
  mutating func insert(_ others: [UInt64]) {
    for number in others where numbers.count < most { numbers.insert(number) }
  }

  /// Whether this is a secret that was remembered.
  func contains(_ value: [UInt8]) -> Bool {
    numbers.contains(SecretMatch.fingerprintNumber(of: value))
  }
}

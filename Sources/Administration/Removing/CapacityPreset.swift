public import Bytes

/// Capacities that many apps set, named by their memory and disk sizes in MiB.
///
/// Only the disk capacity matters for a cache on disk. Source: `configuration.md`, "Presets".
public enum CapacityPreset: String, Hashable, Sendable, CaseIterable {
  /// 4 MiB in memory and 20 MiB on disk, as in Apple's examples.
  case apple4Disk20 = "apple-4-20"
  /// 4 MiB in memory and 100 MiB on disk.
  case apple4Disk100 = "apple-4-100"
  /// 2 MiB in memory and 100 MiB on disk.
  case apple2Disk100 = "apple-2-100"
  /// 512 kB in memory and 10 MB on disk, in units of 1,000: the default of old iOS versions.
  case appleOld = "apple-512k-10"
  /// 4 MiB in memory and 20 MiB on disk: the default of swift-corelibs-foundation.
  case foundation4Disk20 = "foundation-4-20"

  /// The disk capacity, in bytes.
  public var diskBytes: ByteCount {
    switch self {
    case .apple4Disk20, .foundation4Disk20: ByteCount(20 << 20)
    case .apple4Disk100, .apple2Disk100: ByteCount(100 << 20)
    case .appleOld: ByteCount(10_000_000)
    }
  }
}

import Bytes
import Files
import PropertyLists

/// The last dictionaries of properties that were decoded.
///
/// CFNetwork stores the same few again and again: 104 different ones of 7,900 in a made-up cache, and 4 of 73 in a real one.
struct RecentProperties {
  private struct Slot {
    var list: [UInt8] = []
    var properties: [StoredResponse.Property] = []

    /// Whether the properties are those of another list, too.
    func isOf(_ other: Span<UInt8>) -> Bool {
      let list = list.span
      guard list.count == other.count, !list.isEmpty else { return false }
      var place = 0
      while place < list.count {
        if list.word(paddedAt: place) != other.word(paddedAt: place) { return false }
        place &+= 8
      }
      return true
    }
  }

  private static let slotCount = 256
  /// The length of the longest property list that is kept, in bytes.
  private static let maximumLength = 256

  /// Empty until the first list is decoded.
  private var slots: [Slot] = []

  /// Returns what ``StoredResponse/decodeProperties(_:)`` returns.
  mutating func decode(
    _ list: Span<UInt8>
  ) throws(PropertyListError) -> [StoredResponse.Property] {
    guard list.count <= Self.maximumLength else { return try StoredResponse.decodeProperties(list) }
    if slots.isEmpty { slots = Array(repeating: Slot(), count: Self.slotCount) }
    let place = Self.place(of: list)
    if slots[place].isOf(list) { return slots[place].properties }
    let properties = try StoredResponse.decodeProperties(list)
    slots[place].list.replaceAll(with: list)
    slots[place].properties = properties
    return properties
  }

  /// The slot of a list. A poor spread would only cost time.
  private static func place(of list: Span<UInt8>) -> Int {
    var hash = UInt64(truncatingIfNeeded: list.count)
    var place = 0
    while place < list.count {
      // The multiplier is the one of FNV-1a.
      hash = (hash ^ list.word(paddedAt: place)) &* 0x0000_0100_0000_01B3
      hash ^= hash >> 29
      place &+= 8
    }
    return Int(truncatingIfNeeded: hash % UInt64(slotCount))
  }
}

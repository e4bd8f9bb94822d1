import Bytes
import Files
import PropertyLists

/// The last dictionaries of properties that were decoded.
///
/// CFNetwork stores the same few again and again: 104 different ones of 7,900 in a made-up cache, and 4 of 73 in a real one.
struct RecentProperties {
  struct Slot {
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
  /// The most memory that the properties in a slot take, in bytes.
  // A list of 200 bytes can refer to one text 160,000 times, each of which is decoded.
  private static let maximumSize = 4096

  /// Empty until the first list is decoded.
  private(set) var slots: [Slot] = []

  /// Returns what ``StoredResponse/decodeProperties(_:)`` returns.
  mutating func decode(
    _ list: Span<UInt8>
  ) throws(PropertyListError) -> [StoredResponse.Property] {
    guard list.count <= Self.maximumLength else { return try StoredResponse.decodeProperties(list) }
    if slots.isEmpty { slots = Array(repeating: Slot(), count: Self.slotCount) }
    let place = Self.place(of: list)
    if slots[place].isOf(list) { return slots[place].properties }
    let properties = try StoredResponse.decodeProperties(list)
    var room = Self.maximumSize
    for property in properties where room >= 0 { Self.take(property, from: &room) }
    if room < 0 { return properties }
    slots[place].list.replaceAll(with: list)
    slots[place].properties = properties
    return properties
  }

  /// Subtracts the size of a property from the room that is left. Stops below zero.
  private static func take(_ property: StoredResponse.Property, from room: inout Int) {
    room -= property.key.bytes.count
    take(property.value, from: &room)
  }

  private static func take(_ value: StoredResponse.PropertyValue, from room: inout Int) {
    // What a property takes besides texts, roughly.
    room -= 64
    switch value {
    case .null, .boolean, .integer, .real, .date: break
    case .data(let bytes): room -= bytes.count
    case .text(let text): room -= text.bytes.count
    case .opaque(let name): room -= name.utf8.count
    case .array(let values):
      for value in values where room >= 0 { take(value, from: &room) }
    case .dictionary(let properties):
      for property in properties where room >= 0 { take(property, from: &room) }
    }
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

public import Files
public import ResponseStorage

/// The ids of entries, sorted by their places. Memory does not grow with their number.
public struct SortedIDs {
  private var places: SpooledSort<EntryPlace>
  private var sorted: MergedRuns<EntryPlace>?

  /// Creates an empty list.
  ///
  /// - Parameters:
  ///   - isDescending: Whether the largest value comes first.
  ///   - temporaryFolder: The folder for an unnamed file, which many entries need.
  public init(isDescending: Bool, temporaryFolder: String) {
    places = SpooledSort(in: temporaryFolder) { $0.precedes($1, isDescending: isDescending) }
  }

  /// Adds an entry. Not possible once ids were removed.
  public mutating func insert(_ place: EntryPlace) throws(FileError) { try places.insert(place) }

  /// Removes and returns the ids of the next entries in order; fewer at the end.
  public mutating func removeFirst(_ count: Int) throws(FileError) -> [StoredResponse.ID] {
    if sorted == nil { sorted = try places.removeAll() }
    var ids: [StoredResponse.ID] = []
    while ids.count < count, let place = try sorted?.next() { ids.append(place.id) }
    return ids
  }
}

public import Administration
public import ResponseStorage

extension RemovalPlan.EntryList {
  /// All entries, in memory.
  public var array: [RemovalPlan.Entry] {
    get throws {
      var array: [RemovalPlan.Entry] = []
      try forEach { array.append($0) }
      return array
    }
  }

  /// The ids of all entries.
  public var ids: [StoredResponse.ID] { get throws { try array.map(\.version.id) } }
}

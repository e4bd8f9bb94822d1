/// How large the entries of a sample store are.
enum SampleSize {
  /// As in real stores.
  case real
  /// As in real stores, but with all bodies small enough for the database.
  case noLargeBodies
  /// As small as they can be, with few header fields: for stores with many millions of entries.
  case tiny
}

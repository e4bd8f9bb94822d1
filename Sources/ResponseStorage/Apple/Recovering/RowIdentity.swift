/// What two copies of one row have in common.
struct RowIdentity: Hashable {
  var table: AppleRecordShapes.Table
  /// `nil` if the id is not part of the comparison.
  var id: Int64?
  /// A digest of all its values.
  var digest: Int
}

/// An error in a WARC file: a clause that quotes nothing from the file.
struct WARCError: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

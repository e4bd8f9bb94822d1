/// What is wrong with a WARC file: a clause without bytes of the file.
struct WARCError: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

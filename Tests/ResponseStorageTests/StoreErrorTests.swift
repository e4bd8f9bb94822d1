import ResponseStorage
import Testing

/// Compares the messages of errors that depend on more than the code.
struct StoreErrorTests {
  @Test func `an entry that cannot be read is not reported as absent`() {
    #expect("\(StoreError(.noSuchResponse, at: "c"))" == "no such entry in 'c'")
    let error = StoreError(.noSuchResponse, at: "c", because: "the entry has no body")
    #expect("\(error)" == "cannot read the entry in 'c': the entry has no body")
  }

  @Test func `an error about a body names no path that does not exist`() {
    let error = StoreError(.inputOutput, at: nil, because: "a temporary file was truncated")
    #expect("\(error)" == "cannot read or change a body: a temporary file was truncated")
    #expect("\(StoreError(.damaged, at: nil))" == "a body is damaged")
  }

  @Test func `an operation that a cache does not have makes it not read-only`() {
    #expect("\(StoreError(.unsupported, at: "c"))" == "the cache at 'c' is read-only")
    #expect("\(StoreError(.inapplicable, at: "c"))" == "not supported for the cache at 'c'")
  }
}

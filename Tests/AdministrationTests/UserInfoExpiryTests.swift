import Administration
import Bytes
import ResponseStorage
import Testing

@Suite struct UserInfoExpiryTests {
  @Test(arguments: [(599, true), (600, true), (600.9, true), (601, false), (-5, true)])
  func `a response is not expired at the exact end of its lifetime`(
    _ later: Double, _ isValid: Bool
  )
    throws
  {
    let expiry = try #require(
      UserInfoExpiry(
        of: [.init(key: "CustomURLCacheExpiration", value: .date(try time(0)))],
        by: UserInfoExpiry.known))
    #expect(expiry.isValid(at: try time(later)) == isValid)
    #expect(expiry.expiresAt == 1_000_601)
  }

  @Test func `a given rule overrides the built-in one, and the earliest expiry counts`() throws {
    let key: ByteString = "CustomURLCacheExpiration"
    let rules = UserInfoExpiry.rules(
      adding: [.init(key: key, seconds: 60), .init(key: "other", seconds: 20)])
    #expect(rules == [.init(key: key, seconds: 60), .init(key: "other", seconds: 20)])
    let found = UserInfoExpiry(
      of: [
        .init(key: key, value: .date(try time(0))), .init(key: "other", value: .date(try time(30))),
      ],
      by: rules)
    #expect(found?.rule == .init(key: "other", seconds: 20))
    #expect(UserInfoExpiry.rules(adding: []) == [.init(key: key, seconds: 600)])
  }

  @Test func `only a date value for the key counts`() {
    let key: ByteString = "CustomURLCacheExpiration"
    for value in [.text("2025-01-01"), .integer(1_000_000), .null] as [StoredResponse.PropertyValue]
    {
      #expect(UserInfoExpiry(of: [.init(key: key, value: value)], by: UserInfoExpiry.known) == nil)
    }
  }

  @Test func `any number of seconds is accepted`() throws {
    let end = try #require(Timestamp(secondsSince1970: 253_402_300_799))
    let expiry = try #require(
      UserInfoExpiry(
        of: [.init(key: "a", value: .date(end))], by: [.init(key: "a", seconds: .max)]))
    #expect(expiry.expiresAt == .max)
    #expect(expiry.isValid(at: end))
  }

  private func time(_ later: Double) throws -> Timestamp {
    try #require(Timestamp(secondsSince1970: 1_000_000 + later))
  }
}

import Fetching
import Testing

@Suite struct AddressTests {
  @Test(arguments: [
    "127.0.0.1", "127.255.255.255", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255",
    "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "198.18.0.1", "198.19.1.1",
    "192.0.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "::1", "::1%lo", "fc00::1",
    "fdff:ffff::", "fe80::1%eth0", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:7f00:1",
    "64:ff9b::10.0.0.1", "2002:7f00:1::", "2002:c0a8:101::1", "100::1", "::2", "64:ff9b:1::8.8.8.8",
    "64:ff9b:1:ffff::1", "2001::1", "2001:0:808:808::1", "2001:1ff:ffff::",
  ])
  func `local and private addresses are recognised`(_ text: String) throws {
    #expect(try #require(IPAddress(text)).isPrivate)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.1", "100.63.255.255",
    "100.128.0.0", "169.253.1.1", "172.15.255.255", "172.32.0.0", "192.167.1.1", "192.0.1.1",
    "198.17.1.1", "198.20.1.1", "223.255.255.255", "2001:db8::1", "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8", "2002:808:808::", "fbff::1", "100:0:0:1::", "64:ff9b:2::1", "2001:200::1",
  ])
  func `public addresses are not private`(_ text: String) throws {
    #expect(try !#require(IPAddress(text)).isPrivate)
  }

  @Test(arguments: [
    "", "a", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "127.1", "2130706433", "0x7f.0.0.1",
    "1..2.3", "+1.2.3.4", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::",
    "g::", "1:2:3:4:5:6:7:8::", "1.2.3.4::", "+1::",
  ])
  func `invalid addresses are refused`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `an address is parsed to its bytes`() throws {
    #expect(try #require(IPAddress("1.2.3.255")).bytes == [1, 2, 3, 255])
    #expect(
      try #require(IPAddress("2001:DB8::a:1.2.3.4")).bytes
        == [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0x0A, 1, 2, 3, 4])
    #expect(try #require(IPAddress("::")).bytes == [UInt8](repeating: 0, count: 16))
    #expect(try #require(IPAddress("1:2:3:4:5:6:7::")).bytes.suffix(4) == [0, 7, 0, 0])
  }

  @Test func `only a URL with a private host may lead to it`() throws {
    let (here, there) = (try #require(IPAddress("127.0.0.1")), try #require(IPAddress("1.1.1.1")))
    let example = AddressRule(host: "example.com")
    #expect(example.allows("example.com", at: [there]))
    #expect(example.allows("www.example.com", at: []))
    #expect(!example.allows("example.com", at: [there, here]))
    #expect(!example.allows("localhost", at: [there]))
    #expect(!example.allows("127.0.0.1", at: []))
    let local = AddressRule(host: "LOCALHOST.")
    #expect(local.allows("localhost", at: [here]))
    #expect(!local.allows("127.0.0.1", at: [here]))
    #expect(!local.allows("example.com", at: [here]))
    #expect(AddressRule(host: "a.localhost").allows("A.localhost", at: [here]))
    #expect(!AddressRule(host: "a.localhost").allows("b.localhost", at: [here]))
    #expect(AddressRule(host: "::1").allows("::1", at: []))
    // The name resolves to this machine, but does not show it.
    #expect(!AddressRule(host: "2130706433").allows("2130706433", at: [here]))
  }
}

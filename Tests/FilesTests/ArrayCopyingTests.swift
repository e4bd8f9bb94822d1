import Files
import Testing

@Suite struct ArrayCopyingTests {
  @Test func `any range of bytes can be replaced by any bytes`() {
    for old in 0..<20 {
      for new in 0..<20 {
        let source = (0..<new).map { UInt8($0 + 100) }
        var target = (0..<old).map { UInt8($0) }
        target.replaceAll(with: source.span)
        #expect(target == source, "\(old) by \(new)")
      }
    }
  }

  @Test func `a literal is appended as UTF-8`() {
    var array: [UInt8] = [1]
    array.append("")
    array.append("é")
    array.append(", and a text that is longer than any small one")
    #expect(array == [1] + Array("é, and a text that is longer than any small one".utf8))
  }

  @Test func `a copy of the array does not change`() {
    var array: [UInt8] = [1, 2, 3]
    let before = array
    array.replaceAll(with: [9, 8, 7, 6].span)
    #expect(before == [1, 2, 3])
    #expect(array == [9, 8, 7, 6])
  }
}

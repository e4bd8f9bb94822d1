import Files
import Testing

@Suite struct ChannelTests {
  @Test func `values arrive in order, followed by the end`() {
    let channel = Channel<Int>()
    BackgroundThread.start("sender") {
      for number in 0..<10_000 { channel.send(number) }
      channel.close()
    }
    var received: [Int] = []
    while let number = channel.receive() { received.append(number) }
    #expect(received == Array(0..<10_000))
    #expect(channel.receive() == nil)
  }

  @Test func `two threads exchange values`() {
    let (there, back) = (Channel<Int>(), Channel<Int>())
    BackgroundThread.start("echo") {
      while let number = there.receive() { back.send(number + 1) }
      back.close()
    }
    for number in 0..<1_000 {
      there.send(number)
      #expect(back.receive() == number + 1)
    }
    there.close()
    #expect(back.receive() == nil)
  }

  @Test func `only values that are there are received at once`() {
    let channel = Channel<Int>()
    #expect(channel.receiveNow() == nil)
    channel.send(1)
    channel.close()
    #expect(channel.receiveNow() == 1)
    #expect(channel.receiveNow() == nil)
  }

  @Test func `a closed channel accepts no values`() {
    let channel = Channel<Int>()
    channel.send(1)
    channel.close()
    channel.send(2)
    #expect(channel.receive() == 1)
    #expect(channel.receive() == nil)
  }
}

import Dispatch
import Fetching
import Files
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends the requests that arrive on standard input, and writes the responses to standard output.
///
/// It stores nothing: no cache, no cookies, no credentials. At the end of its input it exits, and aborts all running
/// requests.
final class Fetcher: NSObject, Sendable {
  /// The maximum number of running requests; more are refused. The other process keeps below this number.
  private static let mostRequests = 64

  /// Concurrent, because resolving a host name blocks a thread.
  let resolving = DispatchQueue(label: "Fetcher.resolving", attributes: .concurrent)
  /// Separate, because starting and cancelling tasks wait for the session, which may be waiting for the delegate.
  let calling = DispatchQueue(label: "Fetcher.calling")
  let output = FrameOutput()
  private let tasks = Mutex<[UInt32: URLSessionTask?]>([:])
  private let states = Mutex<[Int: FetchState]>([:])

  /// Runs until the end of the input, and exits.
  func run() -> Never {
    let session = URLSession(
      configuration: Self.configuration, delegate: self, delegateQueue: DelegateQueue())
    var reader = FrameReader()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    do {
      while case let count = try StandardStream.input.read(into: &buffer), count > 0 {
        reader.append(buffer[..<count])
        while let frame = try reader.next() { handle(frame, session) }
      }
    } catch {
      CurrentProcess.end(with: 65)
    }
    // At the end of the input the other process is gone, so nobody wants what is still running.
    CurrentProcess.end(with: 0)
  }

  private static var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpCookieAcceptPolicy = .never
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return configuration
  }

  private func handle(_ frame: Frame, _ session: URLSession) {
    switch frame.kind {
    case .request: start(frame, session)
    case .cancel: cancel(frame.number)
    // These frames only go the other way: the peer violates the protocol (EX_DATAERR).
    case .head, .body, .end, .failure, .output, .message, .question, .done:
      CurrentProcess.end(with: 65)
    }
  }

  private func start(_ frame: Frame, _ session: URLSession) {
    let number = frame.number
    guard let request = FetchRequest(payload: frame.payload) else {
      CurrentProcess.end(with: 65)
    }
    let isTaken = tasks.withLock { tasks in
      guard tasks.count < Self.mostRequests, tasks[number] == nil else { return false }
      tasks[number] = .some(nil)
      return true
    }
    guard isTaken else {
      // Each running request takes a thread or two and a connection, and the other process is not
      // trusted to keep its own limit.
      return fail(number, FetchFailure(.other, "too many requests at once"))
    }
    resolving.async { [self] in
      do throws(FetchFailure) {
        let sent = try URLRequest(request)
        let host = sent.url?.bareHost ?? ""
        let rule = AddressRule(host: host)
        try Self.check(host, rule)
        let state = FetchState(number: number, request: request, rule: rule)
        calling.async { [self] in begin(session.dataTask(with: sent), state) }
      } catch {
        let isWanted = tasks.withLock { $0.removeValue(forKey: number) } != nil
        if isWanted { fail(number, error) }
      }
    }
  }

  /// Starts a task, unless its request was cancelled meanwhile.
  private func begin(_ task: URLSessionTask, _ state: FetchState) {
    states.withLock { $0[task.taskIdentifier] = state }
    let isWanted = tasks.withLock { tasks in
      if tasks[state.number] == nil { return false }
      tasks[state.number] = task
      return true
    }
    guard isWanted else {
      states.withLock { $0[task.taskIdentifier] = nil }
      return task.cancel()
    }
    let span = Duration.milliseconds(state.request.timeoutMilliseconds)
    watch(task, for: span, after: span)
    task.resume()
  }

  // Another thread may be looking the host up. Whoever removes the number reports the failure, and
  // the other says nothing.
  private func cancel(_ number: UInt32) {
    let failure = FetchFailure(.cancelled, "the request was cancelled")
    guard let begun = tasks.withLock({ $0.removeValue(forKey: number) }) else { return }
    guard let begun else { return fail(number, failure) }
    _ = update(begun) { $0.failure = failure }
    giveUp(begun)
  }

  /// Checks that the rule allows a host.
  ///
  /// This cannot detect a name that resolves differently when `URLSession` looks it up again, or where a proxy
  /// connects to.
  static func check(_ host: String, _ rule: AddressRule) throws(FetchFailure) {
    let names = Host(name: host).addresses
    guard rule.allows(host, at: names.compactMap { IPAddress($0) }) else {
      throw FetchFailure(
        .privateAddress,
        "the host name resolves to this machine or to a private network")
    }
  }

  /// Aborts a request that gets no head in time, stalls, or takes too long in total.
  ///
  /// Time during which the reader was behind does not count.
  private func watch(_ task: URLSessionTask, for span: Duration, after delay: Duration) {
    let milliseconds = Int((delay / .milliseconds(1)).rounded(.up))
    // Weakly, because most tasks end long before: thousands of them would wait here for their timeouts.
    resolving.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self, weak task] in
      guard let task else { return }
      let now = ContinuousClock.now
      let heldUntil = output.lastFull
      let rest = update(task) { state in
        let rest = state.deadline(for: span, heldUntil: heldUntil) - now
        if rest <= .zero { state.failure = FetchFailure(.timeout, "the request timed out") }
        return rest
      }
      guard let rest else { return }
      if rest > .zero { watch(task, for: span, after: rest) } else { giveUp(task) }
    }
  }

  /// Updates the state of a task; returns `nil` if it has ended.
  func update<Result: Sendable>(
    _ task: URLSessionTask, _ body: (inout FetchState) -> Result
  ) -> Result? {
    states.withLock { states in
      guard var state = states[task.taskIdentifier] else { return nil }
      defer { states[task.taskIdentifier] = state }
      return body(&state)
    }
  }

  /// Ends a request. Further calls have no effect.
  func finish(_ task: URLSessionTask, _ error: (any Error)?) {
    guard let state = states.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    tasks.withLock { $0[state.number] = nil }
    if var failure = state.failure ?? error.map({ FetchFailure($0) }) {
      if state.hasHead, failure.kind == .other { failure.kind = .connection }
      fail(state.number, failure)
    } else if !state.hasHead {
      fail(state.number, FetchFailure(.notHTTP, "the server did not send an HTTP response"))
    } else {
      output.send(.end, state.number)
    }
  }

  /// Cancels and ends a request that has failed.
  func giveUp(_ task: URLSessionTask) {
    calling.async { task.cancel() }
    // Some tasks never complete, even when cancelled, so do not wait for it.
    finish(task, nil)
  }

  private func fail(_ number: UInt32, _ failure: FetchFailure) {
    output.send(.failure, number, failure.payload)
  }
}

/// A delegate queue that blocks the session while the delegate is behind.
///
/// Foundation on Linux delivers data without waiting, and suspending a task there restarts it. Blocking the queue is
/// the only way for a slow reader to slow an origin down.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
  /// A private queue, so that blocked shared threads do not block it.
  private let queue = DispatchQueue(label: "DelegateQueue")

  /// Limits the pending delegate calls, each of which has at most 16 KiB of a body.
  private let room = DispatchSemaphore(value: 16)

  override init() {
    super.init()
    maxConcurrentOperationCount = 1
  }

  override func addOperation(_ block: @escaping @Sendable () -> Void) {
    room.wait()
    queue.async { [room] in
      block()
      room.signal()
    }
  }
}

/// Writes frames to standard output on a background thread.
///
/// Sending never blocks, so that no lock is held while the reader is slow. Senders of bodies wait for room first,
/// which bounds the memory for pending frames.
final class FrameOutput: Sendable {
  private struct Load {
    /// The number of bytes that are not written yet.
    var bytes = 0

    /// The last time at which the output was full.
    var lastFull: ContinuousClock.Instant?

    var isFull: Bool { bytes >= FrameOutput.most }
  }

  /// The number of pending bytes at which the output is full.
  private static let most = 1 << 20

  private let queue = DispatchQueue(label: "FrameOutput")
  private let load = Monitor(Load())

  /// Queues a frame; exits if the reader has closed the pipe.
  func send(_ kind: Frame.Kind, _ number: UInt32, _ payload: [UInt8] = []) {
    // Only a hostile origin sends a head that exceeds a frame.
    let failure = FetchFailure(.tooLarge, "the response headers are too long")
    guard let frame = Frame(kind, number, payload) ?? Frame(.failure, number, failure.payload)
    else { CurrentProcess.end(with: 70) }
    let bytes = frame.bytes
    load.update { $0.bytes += bytes.count }
    queue.async { [load] in
      // `EX_IOERR`. The other process has gone, and nobody is left to tell.
      do { try StandardStream.output.write(bytes) } catch { CurrentProcess.end(with: 74) }
      load.update { load in
        if load.isFull { load.lastFull = .now }
        load.bytes -= bytes.count
      }
    }
  }

  /// Waits until the output is no longer full.
  func waitForRoom() {
    load.wait(until: { !$0.isFull }) { _ in }
  }

  /// The last time at which the output was full and no data could arrive; now, if it still is.
  var lastFull: ContinuousClock.Instant? {
    load.wait(until: { _ in true }) { $0.isFull ? .now : $0.lastFull }
  }
}

extension Fetcher: URLSessionDataDelegate {
  /// The maximum size of a piece of the body in a frame, in bytes.
  private static let largestPiece = 1 << 16

  /// The maximum number of redirects that are followed.
  private static let mostRedirects = 10

  func urlSession(
    _ session: URLSession, dataTask task: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    guard let head = FetchHead(response) else {
      completionHandler(.cancel)
      return finish(task, nil)
    }
    // Foundation on Linux delivers interim responses too (RFC 9110 §15.2).
    guard !(100...199).contains(head.status) else {
      _ = update(task) { $0.lastHeard = .now }
      return completionHandler(.allow)
    }
    let wantsBody = update(task) { state in
      state.lastHeard = .now
      guard !head.hasDifferentLengths else {
        state.failure = FetchFailure(
          .notHTTP, "the response has different 'Content-Length' fields, so its end is unknown")
        return false
      }
      state.hasHead = true
      output.send(.head, state.number, head.payload)
      // The bodies of unsuccessful responses are not needed, and for some of them Foundation never finishes.
      return state.request.bodyLimit != nil && (200...299).contains(head.status)
    }
    guard wantsBody == true else {
      finish(task, nil)
      return completionHandler(.cancel)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask task: URLSessionDataTask, didReceive data: Data) {
    output.waitForRoom()
    let isTooLarge = update(task) { state in
      let (bytes, overflow) = state.bodyBytes.addingReportingOverflow(Int64(data.count))
      state.lastHeard = .now
      guard state.failure == nil, !overflow, bytes <= state.request.bodyLimit ?? 0 else {
        state.failure =
          state.failure ?? FetchFailure(.tooLarge, "the body is larger than the limit")
        return true
      }
      state.bodyBytes = bytes
      var rest = [UInt8](data)[...]
      while !rest.isEmpty {
        output.send(.body, state.number, Array(rest.prefix(Self.largestPiece)))
        rest = rest.dropFirst(Self.largestPiece)
      }
      return false
    }
    // Outside of the lock on the states, which `giveUp` takes again.
    if isTooLarge == true { giveUp(task) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    // Foundation on Linux does not report the head of a redirect without a URL until the task completes.
    if error == nil, let head = task.response.flatMap({ FetchHead($0) }) {
      _ = update(task) { state in
        guard !state.hasHead else { return }
        state.hasHead = true
        output.send(.head, state.number, head.payload)
      }
    }
    finish(task, error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let state = update(task) { state in
      state.redirects += 1
      return state
    }
    guard let state, state.request.redirects != .none, state.redirects <= Self.mostRedirects,
      let url = request.url, url.isFetchable, let host = url.bareHost, response.sends(to: url),
      // Never follow a redirect from https to http.
      url.scheme?.lowercased() == "https" || response.url?.scheme?.lowercased() == "http"
    else { return completionHandler(nil) }
    let next: URLRequest
    switch (state.request.redirects, url.hasOrigin(of: response.url)) {
    case (.any, true): next = request
    case (.any, false): next = request.forAnyOrigin()
    case (.sameOrigin, true): next = request.withFields(of: task.originalRequest)
    case (.sameOrigin, false), (.none, _): return completionHandler(nil)
    }
    resolving.async { [self] in
      do throws(FetchFailure) {
        try Self.check(host, state.rule)
        completionHandler(next)
      } catch {
        _ = update(task) { $0.failure = error }
        giveUp(task)
      }
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    // Calling the handler here could make the session wait for its own queue.
    calling.async { completionHandler(.performDefaultHandling, nil) }
  }
}

import Fetching
import Foundation
#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

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

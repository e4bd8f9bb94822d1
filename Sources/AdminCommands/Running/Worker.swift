import Administration
import Bytes
import Fetching
import Files
import Progress
import Rendering
import ResponseStorage

/// A process that does the work on a cache with the rights of its owner, or that may end without the others: see
/// ``WorkerProcess``, which starts it.
///
/// It runs the same command line, in an environment whose border is two pipes.
struct Worker {
  /// The first argument of a worker; the second is the number of its user, or `-`, and the third that of the group.
  static let argument = "--worker"

  /// The variable with the folder for the state of a user who has no home folder that can be written to.
  static let spareState = "URLCACHE_ADMIN_SPARE_STATE"

  private let link: WorkerLink
  private let order: WorkerOrder

  /// Does the work that the process that has started this one asks for, and ends.
  ///
  /// - Parameter arguments: Those of this process, without the name of the program.
  static func run(_ arguments: [String]) -> Never {
    // Nothing comes before this.
    Privileges.separate()
    if arguments.count != 2 || arguments[1] != "-" {
      do throws(Privileges.Failure) {
        guard arguments.count == 3, let user = UInt32(arguments[1]),
          let group = UInt32(arguments[2])
        else { throw Privileges.Failure() }
        try Privileges.become(user: user, group: group)
      } catch { CurrentProcess.end(with: ExitStatus.noPermission.rawValue) }
    }
    CurrentProcess.ignoreSignalsOfWriting()
    do {
      let link = WorkerLink()
      let worker = Worker(link: link, order: try link.order())
      try worker.run()
      CurrentProcess.end(with: ExitStatus.done.rawValue)
    } catch { CurrentProcess.end(with: ExitStatus.software.rawValue) }
  }

  /// Does the work, and sends the result.
  private func run() throws {
    guard let environment = environment() else { throw WorkerFailure.protocolViolated }
    var result = WorkerValues()
    switch order.task {
    case .run:
      var environment = environment
      let link = link
      environment.job = WorkerJob(name: order.name, isOwn: requireOwn) { record in
        result.add(record == nil ? 0 : 1 as Int64)
        record?.append(to: &result)
        try? link.send(.done, result.bytes)
      }
      // The record of the run is the result.
      _ = URLCacheAdmin.run(["urlcache-admin"] + order.words, in: environment)
      return
    case .measure(let capacity, let rules):
      try requireOwn()
      let usage = try? environment.metrics(
        ofCache: order.ownPath ?? order.name ?? "", capacity: capacity, expiryRules: rules
      ).usage
      result.add(usage == nil ? 0 : 1 as Int64)
      usage?.append(to: &result)
    case .find(let search):
      do throws(FileError) {
        let discovery = try StoreFinder.discovery(
          by: search, ofUser: CurrentProcess.user)
        result.add(0 as Int64)
        discovery.append(to: &result)
      } catch {
        result.add(Int64(error.number))
        result.add(error.path)
      }
    }
    try link.send(.done, result.bytes)
  }

  /// Throws an error if a cache, or a folder on the way to it, belongs to another user than this one and root: that user could
  /// have this one change something else.
  private func requireOwn() throws {
    guard let path = order.ownPath else { return }
    try CacheOwner.requireAll(of: path, toBelongTo: CurrentProcess.user)
  }

  /// Returns the environment of the command line; `nil` without a clock.
  private func environment() -> CommandEnvironment? {
    if let folder = CurrentProcess.variable(Self.spareState),
      !(CommandEnvironment.stateFolder(CurrentProcess.variable).map(Self.canKeepIntents) ?? false)
    {
      // There is one thread.
      CurrentProcess.set("STATE_DIRECTORY", to: folder)
    }
    let link = link
    let say: @Sendable (String) -> Void = {
      try? link.send(.message, Array($0.utf8))
    }
    guard
      var environment = CommandEnvironment.live(
        at: Timestamp(secondsSince1970: order.now), writeMessage: say)
    else { return nil }
    environment.isolation = nil
    environment.write = { try link.send(.output, $0) }
    environment.writeMessage = say
    environment.writeProgress = { try? link.send(.message, $0) }
    environment.terminalWidth = order.terminals.outputWidth
    let width = order.terminals.messageWidth
    environment.messageWidth = { width }
    environment.isOutputTerminal = order.terminals.isOutput
    environment.isMessageTerminal = order.terminals.isMessage
    environment.isInputTerminal = order.terminals.isInput
    environment.readLine = {
      (try? link.ask(["line"])).flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
    }
    let readPiece = { (path: String, buffer: inout [UInt8]) in
      let piece = try link.ask(["piece", path, String(min(buffer.count, 1 << 18))])
      buffer.replaceSubrange(0..<piece.count, with: piece)
      return piece.count
    }
    environment.readPieceOfInput = readPiece
    environment.readInputPiece = { try readPiece("-", &$0) }
    environment.inputs = InputTexts { path, limit in
      try link.ask(["input", path, String(limit)])
    }
    environment.hasNoReader = { false }
    environment.files = OutputFiles(
      create: { path, replacing throws(FileError) in
        try RemoteFile(path, replacing: replacing, over: link)
      }, createFolder: { path throws(FileError) in try RemoteFolder(path, over: link) })
    environment.configurationFiles = order.files.map {
      ConfigurationFile($0.bytes, path: $0.path, home: order.home)
    }
    if let name = order.name, !order.otherNames.isEmpty {
      environment.otherNames = [name: order.otherNames]
    }
    environment.schedule.begin(millisecondsLeft: order.millisecondsLeft, in: environment)
    return environment
  }
}

extension Worker {
  /// Whether intents can be recorded in a folder.
  private static func canKeepIntents(in folder: String) -> Bool {
    (try? FileAccess.checkCreating(at: "\(folder)/intents/none")) != nil
  }
}

/// The work of this process, which is a worker: a run of the command for one cache.
struct WorkerJob {
  /// The name of the cache in a run for all caches.
  let name: String?
  /// Throws an error if the cache does not belong to this user.
  let isOwn: () throws -> Void
  /// Takes the record of the run; `nil` if there was nothing to do.
  let finish: (RunRecord?) -> Void
}

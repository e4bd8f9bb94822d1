public import Bytes
import Files

/// The files of a store to which no entry refers, grouped by whether a repair removes them.
public struct OrphanSurvey: Hashable, Sendable {
  /// The number and size of files that are kept.
  public struct Sum: Hashable, Sendable {
    /// The number of files.
    public var files: Int64
    /// Their total length.
    public var bytes: ByteCount

    /// Creates a sum.
    public init(files: Int64 = 0, bytes: ByteCount = 0) {
      (self.files, self.bytes) = (files, bytes)
    }

    mutating func insert(_ size: ByteCount) {
      files += 1
      bytes += size
    }
  }

  /// The files that a repair removes, sorted by name: body files, or in a Foundation store the files that Foundation
  /// ignores, which do not count against the capacity.
  public var files: [OrphanFile] = []

  /// Files that another process may be writing: less than ten minutes old.
  public var young = Sum()

  /// Body files that may belong to another database in the folder, which cannot be read. A repair keeps them.
  public var undecided = Sum()

  /// Body files that CFNetwork did not create. They count against the capacity, and a repair keeps them.
  public var foreign = Sum()

  /// The total length of ``files``, in bytes.
  public var bytes: ByteCount { files.reduce(0) { $0 + $1.size } }

  /// Creates an empty survey.
  public init() {}
}

extension AppleStore {
  public func orphans(at now: Timestamp) throws -> OrphanSurvey {
    var survey = OrphanSurvey()
    let named = try namedBodyFiles().all
    try bodies.forEachFile { name, status in
      guard status.kind == .regular, let finding = finding(on: name, status, but: named, now)
      else { return }
      if let orphan = finding.orphan, layout.hasBodyFiles {
        survey.files.append(orphan)
      } else if finding.code == .youngFile {
        survey.young.insert(status.size)
      } else if finding.code == .undecidedFile {
        survey.undecided.insert(status.size)
      } else {
        // Files with other names, too: they take up room, but are never removed.
        survey.foreign.insert(status.size)
      }
    }
    survey.files.sort { $0.name < $1.name }
    return survey
  }
}

extension FoundationStore {
  public func orphans(at now: Timestamp) throws -> OrphanSurvey {
    var survey = OrphanSurvey()
    for name in ignored {
      guard let finding = finding(on: name, now) else { continue }
      if let orphan = finding.orphan {
        survey.files.append(orphan)
      } else if let version = files.version(of: name) {
        if version.isYoung(at: now) {
          survey.young.insert(version.size)
        } else {
          survey.foreign.insert(version.size)
        }
      }
    }
    survey.files.sort { $0.name < $1.name }
    return survey
  }
}

import Bytes

#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#endif

/// Whether a program is at work in a folder.
public enum FolderUser: Hashable, Sendable {
  /// None was found.
  case none
  /// The process with this number.
  case process(Int32)
  /// The system does not tell.
  case unknown

  /// Looks for a process with a name that uses a folder: it watches the folder, or has a file below it open or mapped.
  ///
  /// A process of another user, into which this one may not look, counts as using it.
  ///
  /// - Parameter name: Part of the name of the process, as far as the system keeps it: 15 bytes.
  public static func find(named name: String, in path: String) -> FolderUser {
    #if canImport(Darwin)
      return .unknown
    #else
      guard let processes = try? Directory("/proc"), let folder = Directory.resolvedPath(path),
        let number = try? FileStatus.of(folder).identity.last
      else { return .unknown }
      var found = FolderUser.none
      try? processes.forEachName { entry in
        guard found == .none, entry.allSatisfy(\.isASCIIDigit),
          let process = Int32(String(decoding: entry, as: UTF8.self)),
          contents(of: "/proc/\(process)/comm").firstRange(of: name.utf8) != nil,
          uses(process, folder: Array(folder.utf8), number)
        else { return }
        found = .process(process)
      }
      return found
    #endif
  }

  #if !canImport(Darwin)
    private static func uses(_ process: Int32, folder: [UInt8], _ number: UInt64) -> Bool {
      let below = folder + [UInt8(ascii: "/")]
      guard let files = try? Directory("/proc/\(process)/fd") else {
        // One that has just ended uses nothing.
        return (try? FileStatus.of("/proc/\(process)")) != nil
      }
      // A watch is known by the inode of the folder, in hexadecimal digits.
      let watch = "ino:\(String(number, radix: 16)) "
      var isUser = contents(of: "/proc/\(process)/maps").firstRange(of: below) != nil
      try? files.forEachName { descriptor in
        if isUser { return }
        let name = String(decoding: descriptor, as: UTF8.self)
        isUser =
          target(of: "/proc/\(process)/fd/\(name)").starts(with: below)
          || contents(of: "/proc/\(process)/fdinfo/\(name)").firstRange(of: watch.utf8) != nil
      }
      return isUser
    }

    private static func target(of link: String) -> [UInt8] {
      var target = [CChar](repeating: 0, count: 4_097)
      let count = unsafe readlink(link, &target, target.count)
      return count < 0 ? [] : target[..<count].map { UInt8(bitPattern: $0) }
    }

    /// Returns all of a file of `/proc`, whose length is not known before; nothing if it cannot be read.
    private static func contents(of path: String) -> [UInt8] {
      guard let file = try? OpenFile(reading: path) else { return [] }
      var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
      while let count = try? file.read(into: &buffer), count > 0 { all += buffer[..<count] }
      return all
    }
  #endif
}

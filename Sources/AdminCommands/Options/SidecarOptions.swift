public import ArgumentParser
import Files
public import ResponseStorage

/// The options for sidecars.
struct SidecarOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder where the app stores the ETag of each URL in a file, such as"
        + " Library/Caches/etags.",
      valueName: "folder"),
    completion: .directory)
  var sidecars: String?

  /// Rejects the folder of one cache for several caches.
  func check(with scope: ScopeOptions) throws {
    guard sidecars == nil || !scope.allCaches else {
      throw ValidationError(
        "'--sidecars' is the folder of one cache and cannot be combined with '--all-caches'.")
    }
  }

  /// Opens the folder; `nil` if none is given.
  func open() throws -> SidecarFolder? {
    guard let path = sidecars else { return nil }
    do throws(FileError) {
      return try SidecarFolder(path)
    } catch {
      // Files are removed in this folder. A link that somebody else put there could make it any
      // other.
      guard error.kind == .symbolicLink else { throw CommandFailure(error) }
      throw CommandFailure.usage(
        "'\(path)' is a symbolic link, which '--sidecars' does not follow",
        hint: "give the folder that it points to")
    }
  }
}

extension SidecarNaming: ExpressibleByArgument {}

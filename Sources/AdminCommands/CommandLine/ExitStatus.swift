/// The exit statuses, most of them those of `sysexits.h`.
public enum ExitStatus: Int32, Sendable {
  /// Done, also when there was nothing to do.
  case done = 0
  /// The answer is "no": something was named and is not there, or a limit is not met.
  case no = 1
  /// Done in part.
  case partly = 3
  /// The command line is wrong.
  case usage = 64
  /// Not a cache, or a damaged one.
  case data = 65
  /// No such file.
  case noInput = 66
  /// Another program that is needed is not there.
  case unavailable = 69
  /// A fault of this program or of the system it runs on.
  case software = 70
  /// An output file cannot be created.
  case cannotCreate = 73
  /// Reading or writing failed.
  case inputOutput = 74
  /// The cache is in use; trying again may help.
  case temporary = 75
  /// No permission.
  case noPermission = 77
  /// The configuration is wrong.
  case configuration = 78
}

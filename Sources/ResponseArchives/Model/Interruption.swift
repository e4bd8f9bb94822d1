import Files

/// Ends what takes long if a signal has come, which is held back until partial files are removed.
///
/// Every loop over the bytes of a body or an archive calls it between two pieces.
func checkSignals() throws(FileError) {
  if HeldSignals.areWaiting { throw .interrupted(at: "body") }
}

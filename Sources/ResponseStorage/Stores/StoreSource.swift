/// A store that is open for reading. Unlike an archive, it can find a response by its key, and can be a target for
/// others.
public protocol StoreSource: ResponseSource, ResponseTarget {}

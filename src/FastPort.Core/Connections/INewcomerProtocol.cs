namespace FastPort.Connections;

/// <summary>
/// A protocol that finds out whether its peer is good, and calls <see cref="Connection.LeaveNewcomers"/> then. Connections of all other
/// protocols leave as soon as they are opened.
/// </summary>
internal interface INewcomerProtocol;

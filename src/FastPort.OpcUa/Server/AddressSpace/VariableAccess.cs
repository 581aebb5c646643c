using System.Net;
using System.Security.Claims;

namespace FastPort.OpcUa.Server;

/// <summary>A client's access to the value of a variable.</summary>
/// <param name="User">The identity of its session; null for an anonymous client.</param>
/// <param name="Peer">The client's address; null if unknown.</param>
/// <param name="Variable">The variable.</param>
/// <param name="IsWrite">Whether it writes the value; otherwise it reads it.</param>
/// <param name="IsAttempt">
/// Whether the client requests the access now. Otherwise a value is about to be reported to a monitored item, or the client queries its
/// access rights.
/// </param>
public readonly record struct VariableAccess(
    ClaimsPrincipal? User, EndPoint? Peer, VariableNode Variable, bool IsWrite, bool IsAttempt);

/// <summary>
/// Whether a client may read or write the value of a variable. Called on any thread, several at a time, under locks and for each value: it
/// must not block, throw or set a variable.
/// </summary>
/// <param name="access">The access.</param>
public delegate bool VariableAuthorizer(in VariableAccess access);

using System.Net;
using System.Security.Claims;

namespace FastPort.OpcUa.Server;

/// <summary>What a client would do with the value of a variable.</summary>
/// <param name="User">The identity of its session; null for an anonymous client.</param>
/// <param name="Peer">Where the client is; null if that is not known.</param>
/// <param name="Variable">The variable.</param>
/// <param name="IsWrite">Whether it writes the value; otherwise it reads it.</param>
/// <param name="IsAttempt">
/// Whether the client asks for it in this request. Otherwise a value is to be reported to a monitored item, or the client asks what it may
/// do.
/// </param>
public readonly record struct VariableAccess(
    ClaimsPrincipal? User, EndPoint? Peer, VariableNode Variable, bool IsWrite, bool IsAttempt);

/// <summary>
/// Whether a client may read or write the value of a variable. Called by any thread, by several at a time, under locks and for each value:
/// it must not block, throw or set a variable.
/// </summary>
/// <param name="access">Who would do what.</param>
public delegate bool VariableAuthorizer(in VariableAccess access);

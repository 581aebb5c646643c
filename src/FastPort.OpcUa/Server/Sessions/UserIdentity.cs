namespace FastPort.OpcUa.Server;

/// <summary>A user that was accepted: by name and password, or by certificate.</summary>
/// <param name="Name">The name; null for a user by certificate.</param>
/// <param name="Certificate">SHA-256 of the certificate; null for a user by name.</param>
internal sealed record UserIdentity(string? Name, string? Certificate);

namespace FastPort;

/// <summary>A certificate of a server's encrypted endpoints. Immutable.</summary>
/// <param name="Source">Its origin: the path of its file, or <c>the development certificate</c>.</param>
/// <param name="Subject">The subject that it names.</param>
/// <param name="Thumbprint">Its thumbprint (SHA-1), as tools show it.</param>
/// <param name="NotAfter">When it expires.</param>
public sealed record CertificateInfo(string Source, string Subject, string Thumbprint, DateTimeOffset NotAfter);

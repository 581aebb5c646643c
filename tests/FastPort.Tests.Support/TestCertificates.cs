namespace FastPort.Tests.Support;

/// <summary>
/// Makes certificates for tests, with ECDSA keys on P-256. They are valid from 1970 to 2049: in the time of fake clocks as today.
/// </summary>
internal static class TestCertificates
{
    public static readonly DateTimeOffset NotBefore = DateTimeOffset.UnixEpoch;

    public static readonly DateTimeOffset NotAfter = new(2049, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>An authority of its own.</summary>
    public static TestAuthority CreateAuthority(string name = "Test authority") => new(name, issuer: null);
}

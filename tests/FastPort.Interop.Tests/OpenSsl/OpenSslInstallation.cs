
namespace FastPort.Interop.Tests.OpenSsl;

/// <summary>The programs that tests with OpenSSL need: <c>openssl</c>, and <c>stdbuf</c>, which has it write at once.</summary>
internal static class OpenSslInstallation
{
    /// <summary>What is missing and how to get it; null where nothing is.</summary>
    public static string? Problem { get; } =
        Array.Find(["openssl", "stdbuf"], static program => PeerPrograms.Find(program) is null) is { } missing
            ? $"There is no {missing}: install it, in Debian with `apt-get install openssl coreutils`."
            : null;

    /// <inheritdoc cref="PeerPrograms.SkipReason"/>
    public static string? SkipReason => PeerPrograms.SkipReason(Problem);
}

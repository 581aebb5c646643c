using FastPort.Transports;

namespace FastPort.Hosting;

/// <summary>Finds what other machines can do at a server's endpoints without an explicit decision to allow it.</summary>
internal static class Exposure
{
    /// <summary>One sentence for each endpoint that other machines can reach unencrypted or without authentication.</summary>
    /// <param name="endpoints">The endpoints.</param>
    /// <param name="transports">The transports, for schemes that are served through others.</param>
    /// <param name="authenticates">Whether the protocol requires authentication.</param>
    /// <param name="checksCertificates">Whether peers of encrypted endpoints must present a certificate of a configured authority.</param>
    public static IReadOnlyList<string> Find(
        IEnumerable<string> endpoints, TransportCollection transports, bool authenticates, bool checksCertificates)
    {
        List<string> found = [];
        foreach (string text in endpoints)
        {
            if (!Endpoint.TryParse(text, out Endpoint? endpoint, out _)
                || Endpoint.IsName(transports.SchemeBelow(endpoint.Scheme)) || endpoint.IsLoopback)
            {
                continue;
            }

            bool isEncrypted = LayeredSchemes.IsSecure(endpoint.Scheme);
            string what = (isEncrypted, authenticates || (isEncrypted && checksCertificates)) switch
            {
                (true, true) => string.Empty,
                (false, true) => "all traffic can be read on the way, including tokens",
                (true, false) => "anyone who reaches it may connect",
                _ => "anyone who reaches it may connect, and all traffic can be read on the way",
            };
            if (what.Length != 0)
            {
                found.Add($"{endpoint} can be reached from other machines: {what}.");
            }
        }

        return found;
    }
}

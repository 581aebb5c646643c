using System.Runtime.ExceptionServices;

namespace FastPort.OpcUa.Client;

/// <summary>Some servers, as those of Milo, list their endpoints at a separate URL, where they create no sessions.</summary>
internal static class DiscoveryUrl
{
    private const string Suffix = "/discovery";

    // The server has no such endpoint, or not without security, or does not list endpoints there. Any other refusal, such as overload,
    // would be the same at another path.
    private static readonly HashSet<StatusCode> Refusals =
    [
        StatusCodes.BadTcpEndpointUrlInvalid, StatusCodes.BadServiceUnsupported, StatusCodes.BadNotSupported,
        StatusCodes.BadNotImplemented, StatusCodes.BadSecurityPolicyRejected, StatusCodes.BadSecurityModeRejected,
        StatusCodes.BadSecurityModeInsufficient, StatusCodes.BadSecurityChecksFailed,
    ];

    public static bool IsOne(string url) => Endpoint.Parse(url).Path.EndsWith(Suffix, StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Asks a server for its endpoints; if it refuses, asks at its discovery URL. If it also refuses there, the first answer counts.
    /// </summary>
    /// <param name="url">The URL that the client was given.</param>
    /// <param name="ask">Asks at a URL.</param>
    /// <returns>The answer, and the URL that gave it.</returns>
    public static async Task<(T Answer, string Url)> AskAsync<T>(string url, Func<string, Task<T>> ask)
    {
        ExceptionDispatchInfo first;
        try
        {
            return (await ask(url).ConfigureAwait(false), url);
        }
        catch (OpcUaException e) when (Refusals.Contains(e.Status) && !IsOne(url))
        {
            first = ExceptionDispatchInfo.Capture(e);
        }

        try
        {
            Endpoint endpoint = Endpoint.Parse(url);
            string other = (endpoint with { Path = endpoint.Path.TrimEnd('/') + Suffix }).ToString();
            return (await ask(other).ConfigureAwait(false), other);
        }
        catch (Exception e) when (e is OpcUaException or EndpointException)
        {
            first.Throw();
            throw;
        }
    }

    /// <summary>
    /// The URL of a listed endpoint. Host and port stay those of the client: the server may not know under which it can be reached.
    /// </summary>
    /// <param name="url">The URL that the client was given.</param>
    /// <param name="listed">The endpoint.</param>
    public static string Follow(string url, in EndpointDescription listed) =>
        Endpoint.TryParse(listed.EndpointUrl, out Endpoint? endpoint, out _)
            ? (Endpoint.Parse(url) with { Path = endpoint.Path, Query = endpoint.Query }).ToString()
            : url;
}
